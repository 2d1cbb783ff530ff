import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TokenCount } from "../../src/memory/token-count.ts";
import { estimateBlock, estimateText } from "../../src/memory/tokens.ts";
import { type Message, userText } from "../../src/protocol/message.ts";
import type { Usage } from "../../src/protocol/model.ts";

const FOLDER = fileURLToPath(new URL("../fixtures/tokens/", import.meta.url));
const corpora = readdirSync(FOLDER).filter((name) => name.endsWith(".txt"));
const counts: Record<string, number> = JSON.parse(readFileSync(`${FOLDER}o200k.json`, "utf8"));
const fixed = { system: "", toolSpecs: [] };
const usage = (input: number, output = 0): Usage => ({ input, output, cacheRead: 0, cacheWrite: 0 });
const said = (text: string): Message => ({ role: "assistant", provider: "p", model: "m", content: [{ type: "text", text }] });

describe("the estimate of tokens", () => {
  for (const name of corpora) {
    const text = readFileSync(FOLDER + name, "utf8");
    const real = counts[name] ?? 0;

    test(`is within a quarter of what a tokenizer counts: ${name}`, () => {
      expect(estimateText(text) / real).toBeGreaterThan(0.75);
      expect(estimateText(text) / real).toBeLessThan(1.25);
    });

    test(`I18: with the ratio of three answers it is at least 0.7 of the truth: ${name}`, () => {
      const count = new TokenCount(fixed);
      const history: Message[] = [];
      for (let answers = 1; answers <= 3; answers++) {
        history.push(userText(text));
        count.observe(history, usage(real * answers));
        history.push(said("ok"));
      }
      const alone = [userText(text)];
      expect(count.used(alone) / real).toBeGreaterThan(0.7);
      expect(count.used(alone) / real).toBeLessThan(1.6);
    });
  }

  test("grows with every text that is added, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), fc.string({ unit: "binary", maxLength: 200 }), (a, b) => {
        const both = estimateText(`${a}\n${b}`);
        expect(both).toBeGreaterThanOrEqual(Math.max(estimateText(a), estimateText(b)) * 0.5);
        expect(both).toBeLessThanOrEqual(estimateText(a) + estimateText(b) + 2);
      }),
    );
  });

  test("is never more than what the lengths alone allow, of a text and of a conversation before its first answer", () => {
    const text = fc.string({ unit: "binary", maxLength: 300 });
    fc.assert(
      fc.property(text, text, text, text, (system, description, name, prompt) => {
        expect(estimateText(prompt)).toBeLessThanOrEqual(prompt.length);
        const toolSpecs = [{ name, description, inputSchema: { description } }];
        const history = [userText(prompt)];
        const most = new TokenCount({ system, toolSpecs }).usedAtMost(history);
        expect(most).toBeGreaterThanOrEqual(new TokenCount({ system, toolSpecs }).used(history));
      }),
    );
  });

  test("an image counts 1,600, however many bytes it has", () => {
    const one = estimateBlock({ type: "image", mediaType: "image/png", data: "A".repeat(2_000_000) });
    expect(one).toBeGreaterThanOrEqual(1_600);
    expect(one).toBeLessThan(1_700);
  });
});

describe("what fills the window", () => {
  const long = "The quick brown fox jumps over the lazy dog. ".repeat(200);

  test("is the last answer's usage and the estimate of what came since; the answer itself is in its usage", () => {
    const count = new TokenCount(fixed);
    const history: Message[] = [userText(long)];
    count.observe(history, { input: 1_000, cacheRead: 800, cacheWrite: 200, output: 300 });
    history.push(said("A fox jumps."));
    expect(count.used(history)).toBe(2_300);
    history.push(userText(long));
    expect(count.used(history)).toBeGreaterThan(2_300 + estimateText(long) * 0.7);
  });

  test("does not build on usage from before the history was replaced", () => {
    const count = new TokenCount(fixed);
    const history = [userText(long)];
    count.observe(history, usage(2_500));
    expect(count.used([userText("short")])).toBeLessThan(30);
  });

  test("is estimated alone when the server reports nothing, or less than can be true", () => {
    for (const told of [usage(0), usage(0, 50), usage(40)]) {
      const count = new TokenCount(fixed);
      const history = [userText(long)];
      const before = count.used(history);
      expect(count.observe(history, told)).toBe(told.input === 0 ? "nothing" : "too_low");
      expect(count.used(history)).toBe(before);
    }
  });

  test("learns a ratio from real growth, within its bounds", () => {
    const count = new TokenCount(fixed);
    const history: Message[] = [];
    for (let answers = 1; answers <= 6; answers++) {
      history.push(userText(long));
      count.observe(history, usage(9_000 * answers));
      history.push(said("ok"));
    }
    expect(count.ratio).toBeGreaterThan(1.9);
    expect(count.ratio).toBeLessThanOrEqual(2);
  });

  test("costs nothing to ask again for a history that only grew", () => {
    const count = new TokenCount(fixed);
    const history = Array.from({ length: 300 }, (_, index) => userText(`${index} ${long}`));
    count.used(history);
    const started = process.cpuUsage().user;
    for (let turn = 0; turn < 20; turn++) count.used([...history, userText(`turn ${turn}`)]);
    const again = process.cpuUsage().user - started;
    const fresh = process.cpuUsage().user;
    new TokenCount(fixed).used(history);
    expect(again).toBeLessThan(process.cpuUsage().user - fresh);
  });
});
