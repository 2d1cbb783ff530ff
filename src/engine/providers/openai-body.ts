import type { AssistantMessage, ImageBlock, Message, TextBlock, ToolResultBlock, UserMessage } from "../../protocol/message.ts";
import type { ModelRequest } from "../../protocol/model.ts";
import { isRecord } from "../../protocol/record.ts";
import type { ChatCompat } from "./compat.ts";
import { MessageIds } from "./message-ids.ts";
import { chatThinking, type Thinking } from "./thinking.ts";

export type OpenAIBodyOptions = {
  provider: string;
  compat: ChatCompat;
  thinking?: Thinking;
  cacheKey?: string;
  extraBody?: Readonly<Record<string, unknown>>;
};
type WireMessage = Record<string, unknown> & { role: string; content: unknown };

const MISTRAL = /mistral|mixtral|ministral|magistral|codestral|devstral|pixtral/i;
const REASONING = /(^|\/)(o\d|gpt-([5-9]|\d\d))/;

/** The order of the keys is fixed and the messages stand last: each body of a conversation extends the one before. */
export function toOpenAIBody(request: ModelRequest, options: OpenAIBodyOptions): Record<string, unknown> {
  const { compat } = options;
  const ids = new MessageIds(options.provider, (compat.nineCharacterIds ?? MISTRAL.test(request.model)) ? "nine" : 40);
  const role = compat.developerRole && REASONING.test(request.model) ? "developer" : "system";
  const system: WireMessage[] = request.system.trim() === "" ? [] : [{ role, content: request.system }];
  const messages = [...system, ...request.messages.flatMap((message) => toMessages(message, request.model, options, ids))];
  return {
    model: request.model,
    [compat.maxTokensField]: request.maxTokens,
    stream: true,
    ...(compat.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...(compat.store ? { store: false } : {}),
    ...(compat.promptCacheKey && options.cacheKey ? { prompt_cache_key: options.cacheKey } : {}),
    ...(compat.toolStream && request.tools.length > 0 ? { tool_stream: true } : {}),
    ...chatThinking(options.thinking, compat.thinkingStyle),
    ...options.extraBody,
    ...(request.tools.length > 0 ? { tools: request.tools.map((tool) => toTool(tool, compat)) } : {}),
    messages: marked(compat.mergeUserMessages ? merged(messages) : messages, request.model, compat),
  };
}

function toTool(tool: ModelRequest["tools"][number], compat: ChatCompat): Record<string, unknown> {
  const strict = compat.strictTools ? { strict: false } : {};
  return { type: "function", function: { name: tool.name, description: tool.description, parameters: tool.inputSchema, ...strict } };
}

/** Neighbours of the user become one message. */
function merged(messages: readonly WireMessage[]): WireMessage[] {
  const result: WireMessage[] = [];
  for (const message of messages) {
    const last = result.at(-1);
    if (last?.role !== "user" || message.role !== "user") result.push(message);
    else result[result.length - 1] = { role: "user", content: joinContent(last.content, message.content) };
  }
  return result;
}

function joinContent(first: unknown, second: unknown): unknown {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  return [...parts(first), ...parts(second)];
}

/** Where Anthropic's models are reached by this protocol, marks stand on text parts: the system prompt, and the last two messages of the user. */
function marked(messages: WireMessage[], model: string, compat: ChatCompat): WireMessage[] {
  const takesMarks = compat.cacheMarks === "claude" ? /claude/.test(model) : compat.cacheMarks;
  if (!takesMarks) return messages;
  const places = new Set([0, ...messages.flatMap(({ role }, index) => (role === "user" || role === "tool" ? [index] : [])).slice(-2)]);
  return messages.map((message, index) => (places.has(index) ? { ...message, content: withMark(parts(message.content)) } : message));
}

function withMark(content: readonly unknown[]): unknown[] {
  const last = content.findLastIndex((part) => isRecord(part) && part.type === "text");
  return content.map((part, index) => (index === last && isRecord(part) ? { ...part, cache_control: { type: "ephemeral" } } : part));
}

function parts(content: unknown): readonly unknown[] {
  return Array.isArray(content) ? content : [{ type: "text", text: content }];
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
  const isOwn = message.provider === options.provider && message.model === model;
  const extras = isOwn ? callExtras(message) : new Map<string, unknown>();
  const calls = message.content.flatMap((block) =>
    block.type === "tool_use"
      ? [
          {
            id: ids.ofCall(message, block.id),
            type: "function",
            function: { name: block.name, arguments: JSON.stringify(block.malformed === undefined ? block.input : {}) },
            ...(extras.has(block.id) ? { extra_content: extras.get(block.id) } : {}),
          },
        ]
      : [],
  );
  if (text.trim() === "" && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: text.trim() === "" ? null : text,
      ...(calls.length > 0 && options.compat.alwaysReasoning && options.compat.echoReasoning ? { reasoning_content: "" } : {}),
      ...(isOwn && options.compat.echoReasoning ? reasoningFields(message) : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
  ];
}

/** Gemini signs its thoughts on the calls, and refuses a call that comes back without. */
function callExtras(message: AssistantMessage): Map<string, unknown> {
  const extras = new Map<string, unknown>();
  for (const block of message.content) {
    if (block.type === "opaque" && isRecord(block.raw) && typeof block.raw.call_id === "string" && "extra_content" in block.raw)
      extras.set(block.raw.call_id, block.raw.extra_content);
  }
  return extras;
}

/** Reasoning goes back in the field in which it came; its name is the block's signature. */
function reasoningFields(message: AssistantMessage): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const block of message.content) {
    if (block.type === "opaque" && isRecord(block.raw) && "reasoning_details" in block.raw)
      fields.reasoning_details = block.raw.reasoning_details;
    if (block.type === "thinking" && block.signature) fields[block.signature] = `${fields[block.signature] ?? ""}${block.text}`;
  }
  return fields;
}
