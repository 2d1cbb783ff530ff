import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { picture } from "../../scripts/demo-picture/svg.ts";

test("a screen becomes texts at their cells, with colours, and nothing in it is markup", async () => {
  const svg = await picture(["\x1b[32m●\x1b[39m \x1b[1mA<b>\x1b[0m", "second"], { columns: 10, rows: 2 }, "a & b");
  const [mark, words, second] = svg.match(/<text.*?<\/text>/g) ?? [];
  expect(mark).toMatch(/x="14.0" y="27" .*fill="#9ccc65".*>●</);
  expect(words).toMatch(/x="30.8" .*class="b"[^>]*>A&lt;b&gt;</);
  expect(second).toContain(">second<");
  expect(svg).toContain("<title>a &amp; b</title>");
});

test("the picture of the README is of a whole demo, and names no machine", async () => {
  const svg = await readFile(new URL("../../docs/demo.svg", import.meta.url), "utf8");
  const words = svg.replaceAll(/<style>.*?<\/style>|<[^>]+>/g, "\n");
  for (const shown of [/of 4 tasks done/, /busy · /, /Conflict in the merge/, /merged \(/, /scripted answers, no AI/])
    expect(words).toMatch(shown);
  expect(words).not.toMatch(/(?:^|\s|")~?\/\w/m);
  expect(svg).not.toMatch(/<script|\bon\w+=|href|url\(|@import/);
});
