import { describe, expect, test } from "vitest";
import { estimateText } from "../../../src/memory/tokens.ts";
import { type Message, messageText, userText } from "../../../src/protocol/message.ts";
import type { ModelRequest } from "../../../src/protocol/model.ts";
import {
  body,
  compacted,
  compaction,
  compactor,
  long,
  round,
  SERVER_ERROR,
  SUMMARY,
  said,
  scripted,
  tooLong,
  work,
} from "../../support/compacting.ts";
import { illegal } from "../../support/histories.ts";

describe("cases", () => {
  test("C-03: wherever it lands in 40 turns of three parallel calls, no call loses its result", async () => {
    const turns = Array.from({ length: 40 }, (_, turn): Message[] => [
      userText(`Question ${turn}`),
      ...round({ result: `a ${turn} ${long(200)}` }, { result: `b ${turn} ${long(200)}` }, { result: `c ${turn} ${long(200)}` }),
      said(`Answer ${turn}`),
    ]);
    const all = turns.flat();
    const bad: string[] = [];
    const modes = new Set<string>();
    for (let place = 12; place < all.length; place++) {
      // Not between a call and its results: the loop never asks there.
      if (all[place - 1]?.content.some((block) => block.type === "tool_use")) continue;
      const { ask } = scripted((_, number) => (place % 3 === 0 || (place % 3 === 1 && number === 1) ? SERVER_ERROR : SUMMARY));
      const { outcome } = await compacted(compactor({ ask }), all.slice(0, place));
      if ("failed" in outcome) throw new Error(outcome.failed);
      modes.add(outcome.mode);
      expect(outcome.history[0]?.role).toBe("user");
      // To the end of the next turn.
      const rest = all.slice(place, Math.ceil(place / 4) * 4 + 4);
      const gap = rest[0]?.role === "user" ? [said("(gap)")] : [];
      bad.push(...illegal([...outcome.history, ...gap, ...rest, userText("next")]));
    }
    expect(bad).toEqual([]);
    expect([...modes].sort()).toEqual(["dropped", "suffix", "transcript"]);
  });

  test("C-03: at every threshold a growing conversation stays legal and below its window", async () => {
    for (let window = 4_000; window <= 16_000; window += 500) {
      const subject = compactor({ window });
      let history: Message[] = [];
      let runs = 0;
      for (let turn = 0; turn < 40; turn++) {
        if (history.at(-1)?.role === "user") history.push(said("(gap)"));
        history.push(userText(`Question ${turn}`));
        for (const step of [round({ result: long(400) }, { result: long(400) }, { result: long(400) }), [said(`Answer ${turn}`)]]) {
          if (subject.isDue(history)) {
            ({ history } = await compaction(subject, history));
            history = [...history];
            runs += 1;
            expect(subject.isDue(history)).toBe(false);
          }
          history.push(...step);
        }
      }
      expect(runs).toBeGreaterThan(0);
      // An answer behind the last word would be the model's.
      expect(illegal(history.slice(0, -1))).toEqual([]);
      expect(subject.report(history).used).toBeLessThan(window);
    }
  });

  test("C-05: where system, tools and instructions alone are too large it asks nobody and names what is, with sizes", async () => {
    const { ask, requests } = scripted(() => SUMMARY);
    const subject = compactor({ ask, window: 8_000, system: long(9_000), preserve: async () => [long(24_000)] });
    const { outcome } = await compacted(subject, [userText("hello")]);
    expect(requests).toEqual([]);
    expect(outcome).toEqual({
      failed: expect.stringMatching(
        /window of mock-1 has 8000 tokens.*system prompt \d+, tools \d+, instructions and reminders \d{4}, the last message \d+/,
      ),
    });
  });

  test("C-07: one result of 300,000 tokens, a server that refuses all above its limit: the session goes on", async () => {
    const limit = 200_000;
    const size = (request: ModelRequest) => estimateText(JSON.stringify(request));
    const { ask, requests } = scripted((request) => (size(request) > limit ? tooLong(limit) : SUMMARY));
    const words = "And now, the last thing I want: 全部测试都要通过 — exactly so.";
    const history = [...work(3), ...round({ result: long(1_400_000) }), said("Hm."), userText(words)];
    const subject = compactor({ ask });
    const { history: after, mode } = await compaction(subject, history, { trigger: "manual" });
    expect(mode).toBe("transcript");
    expect(requests.every((request) => size(request) < limit)).toBe(true);
    expect(after.map(messageText).join()).toContain(words);
    expect(subject.isDue(after)).toBe(false);
  });

  test("C-07: a summary request that is refused as too long is shortened once, by the limit that was named", async () => {
    const limit = 60_000;
    const { ask, requests } = scripted((request) => (estimateText(body(request)) > limit / 2 ? tooLong(limit) : SUMMARY));
    const many = [
      userText("Go."),
      ...Array.from({ length: 150 }, () => round({ result: long(9_000), input: { path: long(1_900) } })).flat(),
    ];
    const subject = compactor({ ask });
    const { mode } = await compaction(subject, many, { trigger: "overflow" });
    expect({ mode, asked: requests.length }).toEqual({ mode: "transcript", asked: 2 });
    expect(subject.report([]).window).toBe(limit);
  });
});
