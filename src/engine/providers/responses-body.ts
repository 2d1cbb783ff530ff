import type { AssistantMessage, ImageBlock, Message, TextBlock, ToolResultBlock, UserMessage } from "../../protocol/message.ts";
import type { ModelRequest } from "../../protocol/model.ts";
import { isRecord } from "../../protocol/record.ts";
import { MessageIds } from "./message-ids.ts";
import { responsesThinking, type Thinking } from "./thinking.ts";

export type ResponsesBodyOptions = {
  provider: string;
  thinking?: Thinking;
  cacheKey?: string;
  /** Says `strict: false` of each tool, without which this API makes the schemas strict. */
  strictTools?: boolean;
  extraBody?: Readonly<Record<string, unknown>>;
};
type Item = Record<string, unknown>;

/** The order of the keys is fixed and the input stands last: each body of a conversation extends the one before. */
export function toResponsesBody(request: ModelRequest, options: ResponsesBodyOptions): Record<string, unknown> {
  const ids = new MessageIds(options.provider, 64);
  return {
    model: request.model,
    max_output_tokens: request.maxTokens,
    stream: true,
    store: false,
    // Nothing is stored there, so what the model thought travels with the conversation.
    include: ["reasoning.encrypted_content"],
    ...(options.cacheKey ? { prompt_cache_key: options.cacheKey } : {}),
    ...responsesThinking(options.thinking),
    ...options.extraBody,
    ...(request.tools.length > 0 ? { tools: request.tools.map((tool) => toTool(tool, options.strictTools !== false)) } : {}),
    ...(request.system.trim() === "" ? {} : { instructions: request.system }),
    input: request.messages.flatMap((message) => toItems(message, request.model, options.provider, ids)),
  };
}

function toTool(tool: ModelRequest["tools"][number], saysStrict: boolean): Item {
  const strict = saysStrict ? { strict: false } : {};
  return { type: "function", name: tool.name, description: tool.description, parameters: tool.inputSchema, ...strict };
}

function toItems(message: Message, model: string, provider: string, ids: MessageIds): Item[] {
  return message.role === "user" ? userItems(message, ids) : assistantItems(message, model, provider, ids);
}

function userItems(message: UserMessage, ids: MessageIds): Item[] {
  const results = message.content.flatMap((block) => (block.type === "tool_result" ? [toOutput(block, ids)] : []));
  const content = message.content.flatMap((block) => (block.type === "tool_result" ? [] : toPart(block)));
  return [...results, ...(content.length > 0 ? [{ type: "message", role: "user", content }] : [])];
}

/** Plain text where there is no image. */
function toOutput(result: ToolResultBlock, ids: MessageIds): Item {
  const parts = result.content.flatMap(toPart);
  const isPlain = result.content.every((block) => block.type === "text");
  const text = parts.map((part) => part.text).join("\n\n") || "(no output)";
  const plain = result.isError && !/^error/i.test(text) ? `Error: ${text}` : text;
  return { type: "function_call_output", call_id: ids.ofResult(result.toolUseId), output: isPlain ? plain : parts };
}

function toPart(block: TextBlock | ImageBlock): Item[] {
  if (block.type === "text") return block.text.trim() === "" ? [] : [{ type: "input_text", text: block.text }];
  if (block.type !== "image") return [];
  return [{ type: "input_image", image_url: `data:${block.mediaType};base64,${block.data}`, detail: "auto" }];
}

function assistantItems(message: AssistantMessage, model: string, provider: string, ids: MessageIds): Item[] {
  const isOwn = message.provider === provider && message.model === model;
  const items = message.content.flatMap((block): Item[] => {
    if (block.type === "text") return block.text.trim() === "" ? [] : [textItem(block.text)];
    if (block.type === "opaque") return isOwn && isRecord(block.raw) && canGoBack(block.raw) ? [block.raw] : [];
    if (block.type !== "tool_use") return [];
    const input = block.malformed === undefined ? block.input : {};
    return [{ type: "function_call", call_id: ids.ofCall(message, block.id), name: block.name, arguments: JSON.stringify(input) }];
  });
  // Reasoning is refused without what came of it.
  while (items.at(-1)?.type === "reasoning") items.pop();
  return items;
}

function textItem(text: string): Item {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

/** Reasoning that is not encrypted is a reference to what was not stored. */
function canGoBack(raw: Record<string, unknown>): boolean {
  return typeof raw.type === "string" && (raw.type !== "reasoning" || typeof raw.encrypted_content === "string");
}
