import type { AssistantMessage, Message } from "./message.ts";

export type StopReason =
  | "end_turn"
  | "tool_use"
  | "max_tokens"
  | "context"
  | "pause"
  | "refusal"
  | "stop_sequence"
  | "error"
  | `other:${string}`;
/** `input` counts what was neither read from nor written to a cache: input + cacheRead + cacheWrite is the prompt. */
export type Usage = { input: number; output: number; cacheRead: number; cacheWrite: number };
/** `isDeferred`: where a provider can, a model reads it only where a result names it (`found`), and the prefix stays as it was. */
export type ToolSpec = { name: string; description: string; inputSchema: Record<string, unknown>; isDeferred?: true };
export type ModelRequest = { model: string; system: string; messages: readonly Message[]; tools: readonly ToolSpec[]; maxTokens: number };

export type ModelErrorKind =
  | "rate_limit"
  | "overloaded"
  | "server"
  | "network"
  | "truncated"
  | "stalled"
  | "parse"
  | "auth"
  | "invalid_request"
  | "context_length"
  | "quota";

/** What every provider's stream becomes: the words of the SSE vectors. Exactly one `end`, last; after an `error` it says "error". */
export type ModelEvent =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool_start"; index: number; id: string; name: string }
  | { type: "tool_delta"; index: number; json: string }
  /** `input` is null when the arguments were no JSON object: answered with an error, never run. */
  | { type: "tool_end"; index: number; id: string; name: string; input: Record<string, unknown> | null }
  /**
   * `limitTokens`: the window that a "prompt too long" names. `adjusted`: what will be left out of the same request from now on,
   * because the server refused it.
   */
  | {
      type: "error";
      kind: ModelErrorKind;
      retryable: boolean;
      text: string;
      retryAfterMs?: number;
      limitTokens?: number;
      adjusted?: string;
    }
  | { type: "end"; stop: StopReason; usage: Usage; message: AssistantMessage };

/** Never throws: a failure is an `error` event followed by `end`, before the first byte too. An abort ends the stream without `end`. */
export interface ModelClient {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}

/** `cost` in US dollars; absent where the price of a part is unknown. */
export type Spent = { usage: Usage; cost?: number };
export const NOTHING_SPENT: Spent = { usage: NO_USAGE, cost: 0 };

export function addSpent(a: Spent, b: Spent): Spent {
  const usage = addUsage(a.usage, b.usage);
  return a.cost === undefined || b.cost === undefined ? { usage } : { usage, cost: a.cost + b.cost };
}

/** What came between two looks at one count. */
export function spentSince(now: Spent, before: Spent): Spent {
  const usage: Usage = {
    input: now.usage.input - before.usage.input,
    output: now.usage.output - before.usage.output,
    cacheRead: now.usage.cacheRead - before.usage.cacheRead,
    cacheWrite: now.usage.cacheWrite - before.usage.cacheWrite,
  };
  return now.cost === undefined || before.cost === undefined ? { usage } : { usage, cost: now.cost - before.cost };
}

/** US dollars for a million tokens. */
export type Prices = { input: number; output: number; cacheRead: number; cacheWrite: number };

/** US dollars; undefined where nobody knows the price. */
export function costOf(usage: Usage, prices: Prices | undefined): number | undefined {
  if (!prices) return undefined;
  const { input, output, cacheRead, cacheWrite } = usage;
  return (input * prices.input + output * prices.output + cacheRead * prices.cacheRead + cacheWrite * prices.cacheWrite) / 1_000_000;
}
