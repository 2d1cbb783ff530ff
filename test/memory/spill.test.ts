import { readFile, stat } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { spill } from "../../src/memory/spill.ts";
import type { ToolUseBlock } from "../../src/protocol/message.ts";
import { resultText, textResult } from "../../src/protocol/tool.ts";
import { tempFolder } from "../support/temp.ts";

const LIMIT = 30_000;
const call = (name = "Grep", id = "toolu_1"): ToolUseBlock => ({ type: "tool_use", id, name, input: {} });
const LONE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

describe("a large result", () => {
  test("goes to a file of the user's alone; head, tail, size, lines and path stay", async () => {
    await using folder = await tempFolder();
    const text = Array.from({ length: 1_000 }, (_, index) => `line ${index} ${"x".repeat(40)}`).join("\n");
    const shown = resultText(await spill(folder.path, call(), textResult(text), LIMIT));
    const path = `${folder.path}/toolu_1.txt`;
    expect(await readFile(path, "utf8")).toBe(text);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(shown).toContain(`${text.length} characters, 1000 lines in all; the whole text is in ${path}`);
    // Whole lines on both sides of the cut.
    for (const line of shown.split("\n").filter((line) => line.startsWith("line"))) expect(text.split("\n")).toContain(line);
    expect(shown.startsWith("line 0 ")).toBe(true);
    expect(shown.endsWith(text.slice(-40))).toBe(true);
  });

  test("where nothing can be written keeps head and tail, and says that the rest is lost", async () => {
    const text = "line of a result\n".repeat(3_000);
    const shown = resultText(await spill("/sys/roocode", call(), textResult(text), LIMIT));
    expect(shown).toMatch(/51000 characters, 3001 lines in all; the rest could not be saved \(E/);
    expect(shown.length).toBeLessThan(6_000);
  });
  test("is one of more than 2,000 lines too, however short they are; ReadFile pages by itself", async () => {
    await using folder = await tempFolder();
    const lines = (count: number) => textResult(Array.from({ length: count }, (_, index) => `${index}`).join("\n"));
    expect(await spill(folder.path, call(), lines(2_000), LIMIT)).toEqual(lines(2_000));
    expect(resultText(await spill(folder.path, call(), lines(2_001), LIMIT))).toContain("2001 lines in all");
    expect(await spill(folder.path, call("ReadFile"), lines(2_500), LIMIT)).toEqual(lines(2_500));
  });

  test("keeps more of its end when a command wrote it, and its images", async () => {
    await using folder = await tempFolder();
    const image = { type: "image" as const, mediaType: "image/png", data: "AAAA" };
    const text = "a line of output\n".repeat(4_000);
    const result = await spill(folder.path, call("Bash"), { content: [{ type: "text", text }, image] }, LIMIT);
    const [head, tail] = resultText(result).split(/\n\[….*…\]\n/);
    expect(tail?.length).toBeGreaterThan((head?.length ?? 0) * 3);
    expect(result.content.at(-1)).toEqual(image);
  });

  test("I17: the preview is within the limit, the file has the bytes of the original, no pair is torn", async () => {
    await using folder = await tempFolder();
    const piece = fc.oneof(fc.string({ unit: "grapheme", maxLength: 40 }), fc.constantFrom("\n", "😀", "😀😀😀", "行\r\n", ""));
    const texts = fc.tuple(fc.array(piece, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 900 }));
    let spilled = 0;
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.integer({ min: 1_000, max: LIMIT }),
        fc.constantFrom("Bash", "ReadFile"),
        async ([pieces, times], limit, name) => {
          const text = pieces.join("").repeat(times);
          const shown = resultText(await spill(folder.path, call(name), textResult(text), limit));
          expect(shown.length).toBeLessThanOrEqual(limit);
          expect(LONE.test(shown)).toBe(LONE.test(text));
          if (shown === text) return;
          spilled += 1;
          expect((await readFile(`${folder.path}/toolu_1.txt`)).equals(Buffer.from(text))).toBe(true);
        },
      ),
    );
    expect(spilled).toBeGreaterThan(10);
  });
});
