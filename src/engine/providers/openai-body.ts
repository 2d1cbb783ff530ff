import type { AssistantMessage, ImageBlock, Message, TextBlock, ToolResultBlock, UserMessage } from "../../protocol/message.ts";
import type { ModelRequest } from "../../protocol/model.ts";
import type { ChatCompat } from "./compat.ts";
import { MessageIds } from "./message-ids.ts";
import { isObject } from "./wire.ts";

export type OpenAIBodyOptions = { provider: string; compat: ChatCompat; extraBody?: Readonly<Record<string, unknown>> };
type WireMessage = Record<string, unknown>;

/** The order of the keys is fixed and the messages stand last: each body of a conversation extends the one before. */
export function toOpenAIBody(request: ModelRequest, options: OpenAIBodyOptions): Record<string, unknown> {
  const ids = new MessageIds(options.provider, 40);
  const system: WireMessage[] = request.system.trim() === "" ? [] : [{ role: "system", content: request.system }];
  return {
    model: request.model,
    [options.compat.maxTokensField]: request.maxTokens,
    stream: true,
    stream_options: { include_usage: true },
    ...options.compat.extraBody,
    ...options.extraBody,
    ...(request.tools.length > 0 ? { tools: request.tools.map(toTool) } : {}),
    messages: [...system, ...request.messages.flatMap((message) => toMessages(message, request.model, options, ids))],
  };
}

function toTool(tool: ModelRequest["tools"][number]): Record<string, unknown> {
  return { type: "function", function: { name: tool.name, description: tool.description, parameters: tool.inputSchema } };
}

function toMessages(message: Message, model: string, options: OpenAIBodyOptions, ids: MessageIds): WireMessage[] {
  return message.role === "user" ? userMessages(message, ids) : assistantMessages(message, model, options, ids);
}

/** One `tool` message a call, right behind the assistant's; images of results follow in a user message, since only that can hold them. */
function userMessages(message: UserMessage, ids: MessageIds): WireMessage[] {
  const results = message.content.filter((block) => block.type === "tool_result");
  const images = results.flatMap((result) => result.content.filter((block) => block.type === "image"));
  const rest = message.content.filter((block) => block.type !== "tool_result");
  const content = userContent([...images, ...rest]);
  return [...results.map((result) => toToolMessage(result, ids)), ...(content === undefined ? [] : [{ role: "user", content }])];
}

function toToolMessage(result: ToolResultBlock, ids: MessageIds): WireMessage {
  const parts = result.content.map((block) => (block.type === "text" ? block.text : "[The image is in the next user message.]"));
  const text = parts.filter((part) => part !== "").join("\n\n") || "(no output)";
  const content = result.isError && !/^error/i.test(text) ? `Error: ${text}` : text;
  return { role: "tool", tool_call_id: ids.ofResult(result.toolUseId), content };
}

/** Plain text where there is no image: the oldest servers know nothing else. */
function userContent(blocks: readonly (TextBlock | ImageBlock)[]): unknown {
  const kept = blocks.filter((block) => block.type === "image" || (block.type === "text" && block.text.trim() !== ""));
  if (kept.length === 0) return undefined;
  if (kept.every((block) => block.type === "text")) return kept.map((block) => block.text).join("\n\n");
  return kept.map((block) =>
    block.type === "text"
      ? { type: "text", text: block.text }
      : { type: "image_url", image_url: { url: `data:${block.mediaType};base64,${block.data}` } },
  );
}

function assistantMessages(message: AssistantMessage, model: string, options: OpenAIBodyOptions, ids: MessageIds): WireMessage[] {
  const text = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  const calls = message.content.flatMap((block) =>
    block.type === "tool_use"
      ? [
          {
            id: ids.ofCall(message, block.id),
            type: "function",
            function: { name: block.name, arguments: JSON.stringify(block.malformed === undefined ? block.input : {}) },
          },
        ]
      : [],
  );
  if (text.trim() === "" && calls.length === 0) return [];
  const isOwn = message.provider === options.provider && message.model === model;
  return [
    {
      role: "assistant",
      content: text.trim() === "" ? null : text,
      ...(calls.length > 0 && options.compat.alwaysReasoning ? { reasoning_content: "" } : {}),
      ...(isOwn ? reasoningFields(message) : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
  ];
}

/** Reasoning goes back in the field in which it came; its name is the block's signature. */
function reasoningFields(message: AssistantMessage): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const block of message.content) {
    if (block.type === "opaque" && isObject(block.raw) && "reasoning_details" in block.raw)
      fields.reasoning_details = block.raw.reasoning_details;
    if (block.type === "thinking" && block.signature) fields[block.signature] = `${fields[block.signature] ?? ""}${block.text}`;
  }
  return fields;
}
