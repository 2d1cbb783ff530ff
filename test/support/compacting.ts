import { randomUUID } from "node:crypto";
import type { Ask } from "../../src/memory/compact/ask-summary.ts";
import { type CompactorOptions, createCompactor } from "../../src/memory/compact/compactor.ts";
import type { AgentEvent, CompactTrigger } from "../../src/protocol/agent.ts";
import type { Compaction, Compactor } from "../../src/protocol/memory.ts";
import { type AssistantMessage, type Message, messageText, userText } from "../../src/protocol/message.ts";
import { type ModelEvent, type ModelRequest, NO_USAGE, type Usage } from "../../src/protocol/model.ts";

export const SUMMARY = `## Goal
Make the build green.
## Constraints
Touch no test.
## Decisions
None yet.
## Files
a.ts: read.
## Errors and fixes
None.
## State of the work
Half done.
## Next step
Run the tests.`;

type Reply = string | { call: string } | { error: Extract<ModelEvent, { type: "error" }> };
const USAGE: Usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0 };

/** An `ask` that answers with what `reply` says, in the events of the real clients, and keeps what it was asked. */
export function scripted(reply: (request: ModelRequest, number: number) => Reply): { ask: Ask; requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    async *ask(request, signal) {
      requests.push(request);
      const answer = reply(request, requests.length);
      if (signal.aborted) return;
      const message: AssistantMessage = { role: "assistant", provider: "mock", model: request.model, content: [] };
      if (typeof answer === "string") {
        if (answer !== "") yield { type: "text", text: answer };
        yield {
          type: "end",
          stop: "end_turn",
          usage: USAGE,
          message: { ...message, content: answer ? [{ type: "text", text: answer }] : [] },
        };
      } else if ("call" in answer) {
        yield { type: "tool_start", index: 0, id: "c", name: answer.call };
        const content = [
          { type: "text" as const, text: SUMMARY },
          { type: "tool_use" as const, id: "c", name: answer.call, input: {} },
        ];
        yield { type: "end", stop: "tool_use", usage: USAGE, message: { ...message, content } };
      } else {
        yield answer.error;
        yield { type: "end", stop: "error", usage: NO_USAGE, message };
      }
    },
  };
}

export function tooLong(limitTokens?: number): Reply {
  const error = { type: "error" as const, kind: "context_length" as const, retryable: false, text: "400: prompt is too long" };
  return { error: limitTokens === undefined ? error : { ...error, limitTokens } };
}

export const SERVER_ERROR: Reply = { error: { type: "error", kind: "server", retryable: true, text: "500: internal error" } };

export function compactor(options: Partial<CompactorOptions> = {}): Compactor {
  return createCompactor({
    model: "mock-1",
    window: 200_000,
    maxOutputTokens: 16_000,
    system: "You are RooCode.",
    toolSpecs: [
      { name: "ReadFile", description: "Reads a file.", inputSchema: { type: "object", properties: { path: { type: "string" } } } },
    ],
    ask: scripted(() => SUMMARY).ask,
    preserve: async () => [],
    readFile: async () => undefined,
    ...options,
  });
}

/** Runs a compaction to its end. */
export async function compacted(
  subject: Compactor,
  history: readonly Message[],
  {
    trigger = "auto",
    focus,
    signal = new AbortController().signal,
  }: { trigger?: CompactTrigger; focus?: string; signal?: AbortSignal } = {},
): Promise<{ outcome: Compaction | { failed: string }; events: AgentEvent[] }> {
  const events: AgentEvent[] = [];
  const run = subject.compact(history, { trigger, focus }, signal);
  for (;;) {
    const step = await run.next();
    if (step.done) return { outcome: step.value, events };
    events.push(step.value);
  }
}

/** The same for a case in which a compaction must come about. */
export async function compaction(...parameters: Parameters<typeof compacted>): Promise<Compaction> {
  const { outcome } = await compacted(...parameters);
  if ("failed" in outcome) throw new Error(`Not compacted: ${outcome.failed}`);
  return outcome;
}

type Call = { name?: string; input?: Record<string, unknown>; result: string };

export function assistant(content: AssistantMessage["content"]): AssistantMessage {
  return { role: "assistant", provider: "mock", model: "mock-1", content };
}

/** An assistant's message with its calls, and their results. */
export function round(...calls: Call[]): Message[] {
  const named = calls.map((call) => ({ ...call, id: `toolu_${randomUUID()}` }));
  return [
    assistant(named.map(({ id, name = "ReadFile", input = { path: "a.ts" } }) => ({ type: "tool_use", id, name, input }))),
    {
      role: "user",
      content: named.map(({ id, result }) => ({
        type: "tool_result",
        toolUseId: id,
        content: [{ type: "text", text: result }],
        isError: false,
      })),
    },
  ];
}

export const said = (text: string) => assistant([{ type: "text", text }]);
export const long = (characters: number) => "The quick brown fox jumps over the lazy dog.\n".repeat(Math.ceil(characters / 45));
export const usage = (input: number): Usage => ({ input, output: 0, cacheRead: 0, cacheWrite: 0 });
export const body = (request: ModelRequest | undefined) => (request?.messages ?? []).map(messageText).join("\n");
export const work = (rounds = 20): Message[] => [
  userText("Make the build green."),
  ...Array.from({ length: rounds }, (_, index) => round({ result: `result ${index}\n${long(8_000)}` })).flat(),
];
