import type { Message, ToolResultBlock } from "./message.ts";
import type { ToolSpec, Usage } from "./model.ts";

export type SessionHeader = {
  type: "header";
  version: 1;
  id: string;
  cwd: string;
  at: string;
  agent: string;
  model: string;
  system: string;
  tools: ToolSpec[];
  parent?: string;
};

/** One line of the session's JSONL file; results stand alone so that a crash loses none, and fold into one user message on load. */
export type SessionEntry =
  | SessionHeader
  | { type: "message"; at: string; message: Message; usage?: Usage; mail?: readonly string[] }
  | { type: "tool_result"; at: string; result: ToolResultBlock }
  /** `reminder` goes inside the last result's content. */
  | { type: "round_end"; at: string; reminder?: string; mail?: readonly string[] }
  /** Replaces all before it when the history is rebuilt. */
  | { type: "compaction"; at: string; history: Message[] };

export interface Session {
  readonly id: string;
  append(entry: SessionEntry): Promise<void>;
  history(): Promise<Message[]>;
}
