import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { userWords } from "../../../src/memory/compact/conversation.ts";
import { estimateMessage, estimateText } from "../../../src/memory/tokens.ts";
import { type Message, messageText, userText } from "../../../src/protocol/message.ts";
import { compacted, compactor, SERVER_ERROR, SUMMARY, scripted, tooLong } from "../../support/compacting.ts";
import { histories, illegal } from "../../support/histories.ts";

const tokens = (history: readonly Message[]) => history.reduce((sum, message) => sum + estimateMessage(message), 0);
const replies = fc.constantFrom(
  () => SUMMARY,
  () => ({ call: "ReadFile" }),
  () => "",
  () => SERVER_ERROR,
  () => tooLong(),
  () => tooLong(100_000),
);
const reminders = fc.constantFrom<string[]>(
  [],
  ["<system-reminder>\nBe kind.\n</system-reminder>"],
  ["The mode is plan.", "You are alice."],
);
const triggers = fc.constantFrom("auto" as const, "overflow" as const, "manual" as const);

/** The users' messages that are no more than 20,000 tokens together, from the newest on. */
function lastWords(history: readonly Message[]): string[] {
  const newest: string[] = [];
  let left = 20_000;
  for (const { text } of userWords(history).toReversed()) {
    left -= estimateText(text);
    if (left < 0) break;
    newest.push(text);
  }
  return newest;
}

describe("compaction of any history", () => {
  test("the histories of these tests are legal themselves", () => {
    fc.assert(
      fc.property(histories(), (history) => {
        const open = history.at(-1)?.role === "user" ? history : [...history, userText("next")];
        expect(illegal(open)).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  test("I7: gives one legal user message with the users' last words, at most 60 % as long or by dropping rounds", async () => {
    await fc.assert(
      fc.asyncProperty(histories(), replies, reminders, triggers, async (history, reply, preserved, trigger) => {
        const { ask } = scripted(reply);
        const subject = compactor({ ask, preserve: async () => preserved, readFile: async (path) => `// ${path}` });
        const { outcome } = await compacted(subject, history, { trigger });
        if ("failed" in outcome) return;
        expect(outcome.history.map((message) => message.role)).toEqual(["user"]);
        expect(illegal(outcome.history)).toEqual([]);
        if (outcome.mode === "dropped") expect(tokens(outcome.history)).toBeLessThan(tokens(history));
        else expect(tokens(outcome.history)).toBeLessThanOrEqual(tokens(history) * 0.6);
        const text = outcome.history.map(messageText).join();
        // A server that refuses even the summary request leaves a window for little more than the last words.
        const isWhole = subject.report([]).window >= 100_000;
        for (const words of isWhole ? lastWords(history) : []) expect(text).toContain(words);
      }),
      { numRuns: 80 },
    );
  });

  test("a compaction of a compaction keeps the words of the first, and its summary where no model helps", async () => {
    let both = 0;
    await fc.assert(
      fc.asyncProperty(histories({ minTurns: 4 }), histories(), async (first, second) => {
        const working = scripted((_, number) => (number === 1 ? SUMMARY : SERVER_ERROR));
        const subject = compactor({ ask: working.ask });
        const { outcome } = await compacted(subject, first);
        if ("failed" in outcome || outcome.mode === "dropped") return;
        const joined = [...outcome.history, ...second.slice(1)];
        const again = await compacted(subject, joined);
        if ("failed" in again.outcome) return;
        both += 1;
        const text = again.outcome.history.map(messageText).join();
        for (const words of lastWords([...first, ...second.slice(1)])) expect(text).toContain(words);
        expect(text).toContain("Make the build green.");
      }),
      { numRuns: 30 },
    );
    expect(both).toBeGreaterThan(5);
  });

  test("every window from 8k to 200k is served: the new history leaves room below the trigger", async () => {
    await fc.assert(
      fc.asyncProperty(
        histories({ minTurns: 4, maxTurns: 12 }),
        fc.integer({ min: 8_000, max: 200_000 }),
        replies,
        async (history, window, reply) => {
          const subject = compactor({ window, ask: scripted(reply).ask, readFile: async () => "const a = 1;\n".repeat(5_000) });
          if (!subject.isDue(history)) return;
          const { outcome } = await compacted(subject, history);
          if ("failed" in outcome) throw new Error(outcome.failed);
          expect(outcome.tokensAfter).toBeLessThan(outcome.tokensBefore);
          if (outcome.mode !== "dropped") expect(subject.isDue(outcome.history)).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  });
});
