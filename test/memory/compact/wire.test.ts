import { describe, expect, test } from "vitest";
import { anthropicClient } from "../../../src/engine/providers/anthropic.ts";
import { openAIClient } from "../../../src/engine/providers/openai.ts";
import { withRetry } from "../../../src/engine/retry.ts";
import type { Message } from "../../../src/protocol/message.ts";
import { userText } from "../../../src/protocol/message.ts";
import { compaction, compactor, long, round, SUMMARY, said } from "../../support/compacting.ts";
import { fakeModel, PROTOCOLS } from "../../support/fake-model.ts";
import { modelRequest } from "../../support/requests.ts";

describe.each(PROTOCOLS)("over the wire, %s", (protocol) => {
  const history: Message[] = Array.from({ length: 12 }, (_, turn): Message[] => [
    userText(`Question ${turn}`),
    ...round({ result: long(1_500) }, { result: long(1_500) }, { result: long(1_500) }),
    said(`Answer ${turn}`),
  ]).flat();

  test.each([
    ["manual", "suffix"],
    ["overflow", "transcript"],
  ] as const)("C-03: the requests for a %s compaction and the next one are legal to a strict server", async (trigger, expected) => {
    await using model = await fakeModel(() => ({ text: SUMMARY }));
    const { anthropicUrl, openaiUrl } = model.proxy;
    const client =
      protocol === "anthropic"
        ? anthropicClient({ provider: "mock", baseUrl: anthropicUrl, apiKey: "k" })
        : openAIClient({ provider: "mock", baseUrl: openaiUrl, apiKey: "k" });
    const engine = withRetry(client, { sleep: async () => undefined });
    // In the middle of a turn: the last message holds results.
    const open = history.slice(0, -1);
    const outcome = await compaction(compactor({ ask: engine.stream }), open, { trigger });
    expect(outcome.mode).toBe(expected);

    const request = modelRequest({ messages: [...outcome.history, said("(gap)"), userText("Go on.")] });
    for await (const event of engine.stream(request, new AbortController().signal)) expect(event.type).not.toBe("error");
    expect(model.proxy.refused).toEqual([]);
    expect(model.proxy.captures).toHaveLength(2);
  });

  test("C-07: a refusal in the vendor's words leads to a shorter request, and the session goes on", async () => {
    const limit = 24_000;
    await using model = await fakeModel(() => ({ text: SUMMARY }), {
      play: ({ body, path }) => {
        if (body.length < limit) return undefined;
        const message = `prompt is too long: ${Math.round(body.length / 4)} tokens > ${limit / 4} maximum`;
        const error = path.includes("/messages")
          ? { type: "error", error: { type: "invalid_request_error", message } }
          : { error: { message } };
        return { status: 400, headers: { "content-type": "application/json" }, body: JSON.stringify(error) };
      },
    });
    const { anthropicUrl, openaiUrl } = model.proxy;
    const client =
      protocol === "anthropic"
        ? anthropicClient({ provider: "mock", baseUrl: anthropicUrl, apiKey: "k" })
        : openAIClient({ provider: "mock", baseUrl: openaiUrl, apiKey: "k" });
    const subject = compactor({ ask: withRetry(client, { sleep: async () => undefined }).stream });
    const { history: after, mode } = await compaction(subject, history, { trigger: "manual" });
    expect(mode).toBe("transcript");
    expect(subject.report([]).window).toBeLessThan(200_000);
    expect(JSON.stringify(after).length).toBeLessThan(limit);
    expect(JSON.stringify(after)).toContain("Question 11");
  });
});
