import type { AssistantMessage, Message } from "../../protocol/message.ts";
import type { ModelRequest } from "../../protocol/model.ts";
import { isRecord } from "../../protocol/record.ts";
import { at, textAt } from "./wire.ts";

/** Without these there is no request; a limit is renamed instead. */
const NEEDED: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "input",
  "system",
  "instructions",
  "tools",
  "stream",
  "max_output_tokens",
]);
const LIMITS = ["max_tokens", "max_completion_tokens"] as const;
/** What stands deeper in a body than its own fields. */
const NESTED = ["cache_control", "defer_loading", "tool_reference", "strict", "reasoning_content", "reasoning_details"] as const;
const REFUSAL =
  /unsupported|unrecogni[sz]ed|unknown|unexpected|not (?:supported|permitted|allowed|recogni[sz]ed|valid|available|one of)|does not support|doesn't support|extra (?:inputs|fields|forbidden)|extra_forbidden|additional propert|invalid (?:parameter|argument|field)|no such (?:field|parameter)/i;
const THINKING_REFUSED =
  /signature|(?:thinking|redacted_thinking)[`' ]+blocks?|thinking_bound|encrypted[ _]content|item .{0,60}of type '?reasoning|reasoning item/i;
/** Here more thinking is wanted, not less. */
const THINKING_MISSED = /must be passed back|missing a thought|expected [`']?thinking/i;

/** What a server turned out not to take. It holds as long as the client lives, so each thing is refused once and nothing loops. */
export class Adjustments {
  readonly #refused = new Set<string>();
  /** Messages whose thinking the server refused. */
  readonly #bare = new WeakSet<Message>();

  takes(name: string): boolean {
    return !this.#refused.has(name);
  }

  /** The request without the thinking that was refused. */
  prepare(request: ModelRequest): ModelRequest {
    if (!request.messages.some((message) => this.#bare.has(message))) return request;
    return { ...request, messages: request.messages.map((message) => (this.#bare.has(message) ? withoutThinking(message) : message)) };
  }

  /** The body without the fields that were refused, in the same order. */
  strip(body: Record<string, unknown>): Record<string, unknown> {
    if (this.#refused.size === 0) return body;
    const other: Record<string, string> = { [LIMITS[0]]: LIMITS[1], [LIMITS[1]]: LIMITS[0] };
    return Object.fromEntries(
      Object.entries(body).flatMap(([key, value]) => {
        if (!this.#refused.has(key)) return [[key, value]];
        const renamed = other[key];
        return renamed ? [[renamed, value]] : [];
      }),
    );
  }

  /** What will be otherwise in the next request because of this refusal; undefined when nothing can be. */
  learn(error: unknown, body: Record<string, unknown>, request: ModelRequest): string | undefined {
    const status = at(error, "status");
    if (status !== 400 && status !== 422) return undefined;
    const words = `${textAt(error, "message")} ${JSON.stringify(at(error, "error") ?? "")}`.replaceAll('\\"', '"');
    const param = textAt(error, "param") || textAt(error, "error", "param") || textAt(error, "error", "error", "param");
    if (THINKING_REFUSED.test(words) && !THINKING_MISSED.test(words)) {
      const withThinking = request.messages.filter((message) => hasThinking(message));
      for (const message of withThinking) this.#bare.add(message);
      if (withThinking.length > 0) return "The server refused thinking of an earlier answer; asking again without it.";
    }
    const field = this.#refusedField(words, param, body);
    if (!field) return undefined;
    this.#refused.add(field);
    return `The server does not take "${field}"; asking again without it.`;
  }

  #refusedField(words: string, param: string, body: Record<string, unknown>): string | undefined {
    // An answer with calls and no thinking before them: this server wants it as soon as thinking is on.
    if (/expected [`']?thinking/i.test(words) && "thinking" in body && this.takes("thinking")) return "thinking";
    if (!REFUSAL.test(words)) return undefined;
    const limit = LIMITS.find((name) => name in body && namesField(words, param, name));
    if (limit) return LIMITS.every((name) => words.includes(name)) && LIMITS.every((name) => this.takes(name)) ? limit : undefined;
    const text = JSON.stringify(body);
    const known = [
      ...Object.keys(body).filter((name) => !NEEDED.has(name)),
      ...NESTED.filter((name) => text.includes(`"${name}":`)),
      ...(text.includes('"role":"developer"') ? ["developer"] : []),
    ];
    return known.find((name) => this.takes(name) && namesField(words, param, name));
  }
}

/** The longest names are plain; a word such as "store" has to be marked as a name. */
function namesField(words: string, param: string, field: string): boolean {
  const path = param.split(/[.[\]]+/);
  if (path.includes(field)) return true;
  // A field of the settings may have any name.
  const name = field.replace(/[^\w-]/g, "\\$&");
  const marked = new RegExp(
    `["'\`.]${name}["'\`.\\[]|(?:^|[\\s".])${name}: |(?:argument|parameter|field|propert|input|key)\\w*(?: \\w+)?:? ${name}\\b`,
    "i",
  );
  if (marked.test(words)) return true;
  if (name.includes("_")) return new RegExp(`(?<!\\w)${name}(?!\\w)`).test(words);
  return new RegExp(`(?:does not|doesn't) support ${name}\\b|\\b${name} (?:is|are) not (?:supported|allowed|permitted)`, "i").test(words);
}

function hasThinking(message: Message): boolean {
  return message.role === "assistant" && message.content.some((block) => isThinking(block));
}

function withoutThinking(message: Message): Message {
  return message.role === "user" ? message : { ...message, content: message.content.filter((block) => !isThinking(block)) };
}

function isThinking(block: AssistantMessage["content"][number]): boolean {
  if (block.type === "thinking") return true;
  if (block.type !== "opaque" || !isRecord(block.raw)) return false;
  return block.raw.type === "redacted_thinking" || block.raw.type === "reasoning" || "reasoning_details" in block.raw;
}
