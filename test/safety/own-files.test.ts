import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isOwnFile, ownFile, writeOwn } from "../../src/safety/own-files.ts";
import { addLocalRules } from "../../src/safety/rule-files.ts";
import { tempFolder } from "../support/temp.ts";

test("what RooCode writes into a file that is not there, or is the person's, is the person's; a foreign file does not become so by it", async () => {
  await using folder = await tempFolder("own");
  const store = join(folder.path, "trust.json");
  const file = join(folder.path, "config.local.yaml");
  const add = (rule: string) => writeOwn(store, file, () => addLocalRules(file, [rule]));
  await add("Bash(ls)");
  expect(await isOwnFile(store, file)).toBe(true);
  await add("Bash(pwd)");
  expect(await isOwnFile(store, file)).toBe(true);
  await appendFile(file, "hooks: []\n");
  expect(await isOwnFile(store, file)).toBe(false);
  await add("Bash(id)");
  expect(await isOwnFile(store, file)).toBe(false);
  await ownFile(store, file);
  expect(await isOwnFile(store, file)).toBe(true);
});

test("a store that can't be read makes no file the person's", async () => {
  await using folder = await tempFolder("own");
  const store = join(folder.path, "trust.json");
  const file = join(folder.path, "config.local.yaml");
  await writeFile(file, "{}\n");
  expect(await isOwnFile(store, file)).toBe(false);
  for (const text of ["no json", '{"version":1,"folders":{},"files":{"x":1}}']) {
    await writeFile(store, text);
    expect(await isOwnFile(store, file)).toBe(false);
  }
});
