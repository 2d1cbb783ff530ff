import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PromptHistory } from "../../../src/interaction/tui/prompt-history.ts";
import { fullScreen } from "../../support/full-screen.ts";
import { tempFolder } from "../../support/temp.ts";

test("what was typed is there in the next session: many lines and tabs too, half a line left out, 500 kept", async () => {
  await using folder = await tempFolder();
  const told: string[] = [];
  const history = new PromptHistory(join(folder.path, "sessions"), (text) => told.push(text));
  expect(await history.read()).toEqual([]);
  history.add("one");
  history.add("two\n\tlines");
  const path = join(folder.path, "history.jsonl");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await writeFile(path, `${await readFile(path, "utf8")}7\n"half`);
  expect(await history.read()).toEqual(["one", "two\n\tlines"]);
  await writeFile(path, Array.from({ length: 1_001 }, (_, index) => `"${index}"\n`).join(""));
  const kept = await history.read();
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([500, "501", "1000"]);
  expect((await readFile(path, "utf8")).split("\n")).toHaveLength(501);
  expect(told).toEqual([]);
});

test("a history that can't be read or written is said, and nothing else happens", async () => {
  await using folder = await tempFolder();
  await mkdir(join(folder.path, "history.jsonl"));
  const told: string[] = [];
  const history = new PromptHistory(join(folder.path, "sessions"), (text) => told.push(text));
  expect(await history.read()).toEqual([]);
  history.add("one");
  expect(told).toHaveLength(2);
});

test("the arrow goes through what was typed before, the newest first", async () => {
  using shown = fullScreen();
  const added: string[] = [];
  shown.screen.recall(["old", "newer\twith a tab"], (text) => added.push(text));
  shown.terminal.keys("\x1b[A");
  expect(await shown.input()).toBe("newer→with a tab");
  shown.terminal.keys("\x1b[A");
  expect(await shown.input()).toBe("old");
  shown.terminal.type("!");
  const prompt = shown.screen.prompt(new AbortController().signal);
  shown.terminal.keys("\r");
  expect(await prompt).toBe("old!");
  expect(added).toEqual(["old!"]);
});
