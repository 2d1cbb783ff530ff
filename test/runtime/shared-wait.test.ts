import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { anthropicClient } from "../../src/engine/providers/anthropic.ts";
import { type RetryOptions, withRetry } from "../../src/engine/retry.ts";
import { sharedWait } from "../../src/runtime/shared-wait.ts";
import { type RawReply, rawServer } from "../support/raw-sse.ts";
import { modelRequest } from "../support/requests.ts";
import { collect, vectorBytes } from "../support/streams.ts";
import { tempFolder } from "../support/temp.ts";

const limited = (seconds: number): RawReply => ({
  status: 429,
  headers: { "content-type": "application/json", "retry-after": String(seconds) },
  steps: [JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "slow down" } })],
});
const answer: RawReply = { steps: [vectorBytes("ant-usage-basic")] };
const START = Date.parse("2026-12-02T10:00:00Z");

/** Agents of one team, a clock that their sleeps alone move, and when each request of theirs was made. */
async function team(replies: readonly RawReply[], options: RetryOptions = {}) {
  const server = await rawServer(...replies);
  const folder = await tempFolder("roocode-waits");
  const waits = join(folder.path, "waits");
  const clock = { nowMs: START };
  const slept: number[] = [];
  const agent = (provider = "anthropic") =>
    withRetry(anthropicClient({ provider, baseUrl: server.url }), {
      sleep: async (ms) => {
        slept.push(ms);
        clock.nowMs += ms;
      },
      now: () => new Date(clock.nowMs),
      random: () => 0.5,
      shared: sharedWait(waits, provider),
      ...options,
    });
  return {
    server,
    clock,
    slept,
    waits,
    ask: (one: ReturnType<typeof agent>) => collect(one.stream(modelRequest(), new AbortController().signal)),
    agent,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("what a server asks of one agent, all of the team keep to: they wait until then, each a little longer, and say that they do", async () => {
  await using group = await team([limited(20), answer]);
  const [alice, bob] = [group.agent(), group.agent()];
  await group.ask(alice);
  expect(group.slept).toEqual([20_000]);
  group.clock.nowMs = START + 5_000;
  const events = await group.ask(bob);
  expect(group.slept).toEqual([20_000, 15_500]);
  expect(events[0]).toEqual({ type: "retry", attempt: 1, max: 8, delayMs: 15_500, kind: "rate_limit" });
  expect(group.server.requests).toHaveLength(3);
  expect((await group.ask(bob))[0]?.type).not.toBe("retry");
});

test("another provider's agents go on, a shorter wait takes nothing from a longer one, and without a word from a server nothing is written", async () => {
  await using group = await team([answer]);
  await group.ask(group.agent());
  await expect(stat(group.waits)).rejects.toThrow("ENOENT");
  const wait = sharedWait(group.waits, "anthropic");
  wait.hold(START + 30_000);
  wait.hold(START + 10_000);
  expect(wait.until()).toBe(START + 30_000);
  await group.ask(group.agent("other/one"));
  expect(group.slept).toEqual([]);
});

test("a pause longer than a request sits out is left to the server to tell, and so is one that makes no sense", async () => {
  await using short = await team([answer]);
  sharedWait(short.waits, "anthropic").hold(START + 120_000);
  await short.ask(short.agent());
  expect(short.slept).toEqual([]);
  await using long = await team([answer], { longWaits: true });
  sharedWait(long.waits, "anthropic").hold(START + 120_000);
  await long.ask(long.agent());
  expect(long.slept).toEqual([60_000, 60_000]);
  sharedWait(long.waits, "anthropic").hold(long.clock.nowMs + 9 * 3_600_000);
  await long.ask(long.agent());
  expect(long.slept).toHaveLength(2);
});
