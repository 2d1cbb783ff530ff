export type TextBlock = { type: "text"; text: string };
export type ImageBlock = { type: "image"; mediaType: string; data: string };
/** `signature` is opaque; the provider that wrote it wants it back unchanged. */
export type ThinkingBlock = { type: "thinking"; text: string; signature?: string };
/** `malformed`: the argument text that was no JSON object; sent back as {} with an error result. */
export type ToolUseBlock = { type: "tool_use"; id: string; name: string; input: Record<string, unknown>; malformed?: string };
/** Only its own provider can read it (redacted thinking, server tools): sent back unchanged, dropped for others. */
export type OpaqueBlock = { type: "opaque"; provider: string; raw: unknown };
/** `found` are tools that the requests behind it name. */
export type ToolResultBlock = {
  type: "tool_result";
  toolUseId: string;
  content: (TextBlock | ImageBlock)[];
  isError: boolean;
  found?: readonly string[];
};
export type ContentBlock = TextBlock | ImageBlock | ThinkingBlock | OpaqueBlock | ToolUseBlock | ToolResultBlock;
export type UserMessage = { role: "user"; content: (TextBlock | ImageBlock | ToolResultBlock)[] };
export type AssistantMessage = {
  role: "assistant";
  /** Name of the provider that wrote it: its thinking and opaque blocks go back to this one only. */
  provider: string;
  model: string;
  content: (TextBlock | ThinkingBlock | OpaqueBlock | ToolUseBlock)[];
};
export type Message = UserMessage | AssistantMessage;

export function userText(text: string): UserMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

export function toolCalls(message: AssistantMessage): ToolUseBlock[] {
  return message.content.filter((block) => block.type === "tool_use");
}

/** The text blocks of a message, joined by blank lines. */
export function messageText(message: Message): string {
  return message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
}

/** Stands for the answer that a turn never got: some servers refuse two messages of the user in a row. */
export const NO_ANSWER = "[This turn ended before it was answered.]";
