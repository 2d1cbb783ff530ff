import type { ImageBlock, TextBlock } from "./message.ts";
import type { ToolSpec } from "./model.ts";

/**
 * What a call would touch. Safety decides from this alone. `subject` is the text that rules match: the command line of a
 * command, the path of a file tool, the pattern of a search, the target of any other. `paths` are as the model gave them. `isUnsandboxed`: a command that is to run outside of the OS sandbox.
 */
export type Access = { kind: "read" | "write" | "command" | "other"; subject: string; paths?: readonly string[]; isUnsandboxed?: true };
export type ToolDisplay = { type: "diff"; path: string; patch: string } | { type: "text"; text: string };
/** The model reads `content`; the person sees `display`. `found` are tools that the next request names for the first time. */
export type ToolResult = { content: (TextBlock | ImageBlock)[]; isError?: boolean; display?: ToolDisplay; found?: readonly string[] };
/**
 * `callId` is the id of the model's call; two runs never share one. `resolved` are the places that were judged, in the order of
 * `access.paths`; undefined where no layer judges paths.
 */
export type ToolContext = {
  cwd: string;
  callId: string;
  signal: AbortSignal;
  progress(text: string): void;
  resolved?: readonly string[] | undefined;
};
/** Of files that a search came upon: whether each may be shown, when the search itself began at `from`. */
export type MayShow = (tool: string, from: string, files: readonly string[]) => Promise<readonly boolean[]>;

export interface Tool<Input = unknown> extends ToolSpec {
  /** Throws ToolInputError with a text for the model. */
  parse(input: unknown): Input;
  access(input: Input): Access;
  isConcurrencySafe(input: Input): boolean;
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

export function textResult(text: string, display?: ToolDisplay): ToolResult {
  return { content: [{ type: "text", text }], ...(display ? { display } : {}) };
}

export function errorResult(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

export function resultText(result: ToolResult): string {
  return result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
