import type { CompactMode, CompactTrigger } from "./agent.ts";
import type { Message, ToolResultBlock } from "./message.ts";
import type { ToolSpec, Usage } from "./model.ts";
import type { PermissionMode } from "./permission.ts";

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
  /** Id of the session that this one was forked from. */
  parent?: string;
};

/** One line of the session's JSONL file; results stand alone so that a crash loses none, and fold into one user message on load. */
export type SessionEntry =
  | SessionHeader
  /** `cost` in US dollars, by the prices of that day. `turn` counts the messages of the person, from 1; only those have it. */
  | { type: "message"; at: string; message: Message; usage?: Usage; cost?: number; mail?: readonly string[]; turn?: number }
  | { type: "tool_result"; at: string; result: ToolResultBlock }
  /** `reminder` goes inside the last result's content; `steering`, the person's words meanwhile, stands behind the results. */
  | { type: "round_end"; at: string; reminder?: string; steering?: string; mail?: readonly string[] }
  /** Replaces all before it when the history is rebuilt. `usage` is what the summary took. */
  | {
      type: "compaction";
      at: string;
      history: Message[];
      trigger: CompactTrigger;
      mode: CompactMode;
      tokensBefore: number;
      tokensAfter: number;
      usage?: Usage;
      cost?: number;
    }
  /** Replaces all before it too: the person went back to the moment before this turn, or, without one, the history was mended. */
  | { type: "rewind"; at: string; history: Message[]; turn?: number }
  /** What a request took that brought no message. */
  | { type: "spent"; at: string; usage: Usage; cost?: number }
  /** Tools that were found later: they stand behind those of the header, in the order of these entries. */
  | { type: "tools_added"; at: string; tools: ToolSpec[] }
  /** What the person calls the session; the last one counts. */
  | { type: "name"; at: string; name: string }
  /** Planning began or ended; the last one says whether a session that goes on plans. */
  | { type: "mode"; at: string; mode: PermissionMode }
  /** What the files were around a step of the agent; `turn` counts the person's messages, `id` is a snapshot's. */
  | { type: "checkpoint"; at: string; id: string; turn: number; phase: "before" | "after" };

export interface Session {
  readonly id: string;
  append(entry: SessionEntry): Promise<void>;
  /** Returns once all of it is on the disk, or can't be brought there. */
  sync(): void;
  history(): Promise<Message[]>;
}
