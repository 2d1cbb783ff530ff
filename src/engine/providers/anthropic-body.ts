import type {
  AssistantMessage,
  ImageBlock,
  Message,
  OpaqueBlock,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  UserMessage,
} from "../../protocol/message.ts";
import type { ModelRequest } from "../../protocol/model.ts";
import { MessageIds } from "./message-ids.ts";
import { anthropicThinking, type Thinking } from "./thinking.ts";

export type AnthropicBodyOptions = {
  provider: string;
  thinking?: Thinking;
  extraBody?: Readonly<Record<string, unknown>>;
  /** Unless it is false. */
  cacheMarks?: boolean;
  /** The server reads `defer_loading` and `tool_reference`. */
  toolReferences?: boolean;
};
type WireBlock = Record<string, unknown> & { type: string };
type WireMessage = { role: "user" | "assistant"; content: WireBlock[] };

const CACHE_MARK = { type: "ephemeral" } as const;
const NONE: ReadonlySet<string> = new Set();

/**
 * The order of the keys is fixed and the messages stand last, so that each body of a conversation, its cache marks aside,
 * begins with the bytes of the one before: caches and signed thinking blocks depend on it.
 */
export function toAnthropicBody(request: ModelRequest, options: AnthropicBodyOptions): Record<string, unknown> {
  const referenced = options.toolReferences ? referencedTools(request) : NONE;
  const tools: Record<string, unknown>[] = request.tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    input_schema: tool.inputSchema,
    ...(referenced.has(tool.name) ? { defer_loading: true } : {}),
  }));
  const system: WireBlock[] = isBlank(request.system) ? [] : [{ type: "text", text: request.system }];
  const ids = new MessageIds(options.provider, 64);
  const messages = request.messages
    .map((message): WireMessage => ({ role: message.role, content: toBlocks(message, request.model, options.provider, ids, referenced) }))
    .filter((message) => message.content.length > 0);
  if (options.cacheMarks !== false) {
    // What is read later stands behind the part that a cache keeps, and may have no mark.
    mark(tools.findLast((tool) => !("defer_loading" in tool)));
    mark(system.at(-1));
    for (const message of messages.filter(({ role }) => role === "user").slice(-2)) mark(message.content.at(-1));
  }
  const thinking = anthropicThinking(options.thinking, request.model, request.maxTokens);
  return {
    model: request.model,
    max_tokens: request.maxTokens,
    stream: true,
    ...thinking,
    ...("thinking" in thinking ? withoutSampling(options.extraBody) : options.extraBody),
    ...(tools.length > 0 ? { tools } : {}),
    ...(system.length > 0 ? { system } : {}),
    messages,
  };
}

/** Thinking and a temperature exclude each other. */
function withoutSampling({
  temperature: _,
  top_p: __,
  top_k: ___,
  ...rest
}: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return rest;
}

function mark(block: Record<string, unknown> | undefined): void {
  if (block) block.cache_control = CACHE_MARK;
}

/**
 * Tools that a result of this very history names. A compaction takes that result away: from then on its tools are sent as any other,
 * or the model would have lost them.
 */
function referencedTools({ messages, tools }: ModelRequest): ReadonlySet<string> {
  const deferred = new Set(tools.flatMap((tool) => (tool.isDeferred ? [tool.name] : [])));
  if (deferred.size === 0) return NONE;
  const results = messages.flatMap(({ content }) => content.filter((block) => block.type === "tool_result"));
  return new Set(results.flatMap(({ found = [] }) => found).filter((name) => deferred.has(name)));
}

function toBlocks(message: Message, model: string, provider: string, ids: MessageIds, referenced: ReadonlySet<string>): WireBlock[] {
  return message.role === "user" ? userBlocks(message, ids, referenced) : assistantBlocks(message, model, provider, ids);
}

/** Results stand first: the protocol wants them right behind their calls. */
function userBlocks(message: UserMessage, ids: MessageIds, referenced: ReadonlySet<string>): WireBlock[] {
  const results: WireBlock[] = [];
  const rest: WireBlock[] = [];
  for (const block of message.content) {
    if (block.type !== "tool_result") rest.push(...toContent(block));
    else {
      const references = (block.found ?? []).filter((name) => referenced.has(name));
      results.push(references.length > 0 ? toReferences(block, references, ids) : toResult(block, ids));
      // Beside references nothing else may stand: the first block says the same in words, what follows is a reminder.
      if (references.length > 0) rest.push(...block.content.slice(1).flatMap(toContent));
    }
  }
  return [...results, ...rest];
}

function toReferences({ toolUseId }: ToolResultBlock, names: readonly string[], ids: MessageIds): WireBlock {
  return {
    type: "tool_result",
    tool_use_id: ids.ofResult(toolUseId),
    content: names.map((name) => ({ type: "tool_reference", tool_name: name })),
  };
}

function toResult(block: ToolResultBlock, ids: MessageIds): WireBlock {
  const content = block.content.flatMap(toContent);
  return {
    type: "tool_result",
    tool_use_id: ids.ofResult(block.toolUseId),
    ...(content.length > 0 ? { content } : {}),
    ...(block.isError ? { is_error: true } : {}),
  };
}

function toContent(block: TextBlock | ImageBlock): WireBlock[] {
  if (block.type === "text") return isBlank(block.text) ? [] : [{ type: "text", text: block.text }];
  if (block.type !== "image") return [];
  return [{ type: "image", source: { type: "base64", media_type: block.mediaType, data: block.data } }];
}

function assistantBlocks(message: AssistantMessage, model: string, provider: string, ids: MessageIds): WireBlock[] {
  const isOwn = message.provider === provider && message.model === model;
  return message.content.flatMap((block) => {
    if (block.type === "thinking" || block.type === "opaque") return isOwn ? ownBlock(block) : [];
    if (block.type === "text") return toContent(block);
    if (block.type !== "tool_use") return [];
    const input = block.malformed === undefined ? block.input : {};
    return [{ type: "tool_use", id: ids.ofCall(message, block.id), name: block.name, input }];
  });
}

/** They mean nothing, or are refused, anywhere but where they were written; thinking without a signature was interrupted. */
function ownBlock(block: ThinkingBlock | OpaqueBlock): WireBlock[] {
  if (block.type === "thinking") return block.signature ? [{ type: "thinking", thinking: block.text, signature: block.signature }] : [];
  return isWireBlock(block.raw) ? [block.raw] : [];
}

function isWireBlock(raw: unknown): raw is WireBlock {
  return typeof raw === "object" && raw !== null && "type" in raw && typeof raw.type === "string";
}

/** The API refuses text blocks without a visible character. */
function isBlank(text: string): boolean {
  return text.trim() === "";
}
