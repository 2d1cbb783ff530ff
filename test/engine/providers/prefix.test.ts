import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toAnthropicBody } from "../../../src/engine/providers/anthropic-body.ts";
import { compatOf } from "../../../src/engine/providers/compat.ts";
import { toOpenAIBody } from "../../../src/engine/providers/openai-body.ts";
import { toResponsesBody } from "../../../src/engine/providers/responses-body.ts";
import { type Message, toolCalls, type UserMessage } from "../../../src/protocol/message.ts";
import type { ModelRequest } from "../../../src/protocol/model.ts";
import { resultBlock, resultsMessage } from "../../../src/protocol/results.ts";
import { textResult } from "../../../src/protocol/tool.ts";
import { histories } from "../../support/histories.ts";
import { modelRequest } from "../../support/requests.ts";

const RUNS = { numRuns: 300 };
const PROVIDER = { provider: "mock" };
const MAKERS: readonly [string, (request: ModelRequest) => Record<string, unknown>][] = [
  ["anthropic", (request) => toAnthropicBody(request, PROVIDER)],
  ["openai", (request) => toOpenAIBody(request, { ...PROVIDER, compat: compatOf("https://example.test/v1") })],
  ["openai-responses", (request) => toResponsesBody(request, PROVIDER)],
];

/** As a cache sees it: the marks are no part of what it compares. */
function bytes(make: (request: ModelRequest) => Record<string, unknown>, messages: readonly Message[]): string {
  return JSON.stringify(make(modelRequest({ messages }))).replaceAll(/,?"cache_control":\{"type":"ephemeral"\}/g, "");
}

function commonPrefix(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** Every place in a history where a request is made: behind a message of the user. */
function requestsOf(history: readonly Message[]): Message[][] {
  return history.flatMap((message, index) => (message.role === "user" ? [history.slice(0, index + 1)] : []));
}

describe.each(MAKERS)("bodies over %s", (_name, make) => {
  test("I11: each body of a conversation extends the one before, system and tools byte for byte", () => {
    fc.assert(
      fc.property(histories({ minTurns: 2, maxTurns: 6 }), (history) => {
        let before = "";
        for (const messages of requestsOf(history)) {
          const body = bytes(make, messages);
          // Without the two brackets that close the list and the body.
          if (before !== "") expect(body.startsWith(before.slice(0, -2))).toBe(true);
          before = body;
        }
      }),
      RUNS,
    );
  });

  test("I12: forks of one answer share all bytes up to the last block", () => {
    fc.assert(
      fc.property(
        histories({ minTurns: 2, maxTurns: 5 }),
        fc.string({ minLength: 1 }),
        fc.string({ minLength: 1 }),
        (history, left, right) => {
          const at = history.findLastIndex((message) => message.role === "assistant" && toolCalls(message).length > 0);
          const message = history[at];
          if (message?.role !== "assistant" || left.trim() === right.trim()) return;
          const results = toolCalls(message).map((call) => resultBlock(call, textResult("This agent was forked here.")));
          const fork = (directive: string): UserMessage => resultsMessage(results, undefined, `Directive: ${directive}`);
          const parent = history.slice(0, at + 1);
          const [one, other] = [bytes(make, [...parent, fork(left)]), bytes(make, [...parent, fork(right)])];
          const shared = one.slice(0, commonPrefix(one, other));
          expect(shared).toContain("Directive: ");
          expect(shared.length).toBeGreaterThanOrEqual(bytes(make, parent).length - 2);
        },
      ),
      RUNS,
    );
  });
});
