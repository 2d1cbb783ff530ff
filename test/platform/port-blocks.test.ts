import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { takePorts } from "../../src/platform/port-blocks.ts";
import { tempFolder } from "../support/temp.ts";

const RANGE = { from: 20_000, size: 10 };

async function places(...names: string[]) {
  const folder = await tempFolder();
  const paths = names.map((name) => join(folder.path, name));
  for (const path of paths) await mkdir(path);
  return { record: join(folder.path, "ports.json"), paths, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("worktrees that ask at the same time get blocks of their own, and the same again when they ask again", async () => {
  await using at = await places(...Array.from({ length: 8 }, (_, index) => `w${index}`));
  const blocks = await Promise.all(at.paths.map((path) => takePorts(at.record, path, RANGE)));
  expect(blocks.map(({ first }) => first).sort()).toEqual(at.paths.map((_, index) => 20_000 + 10 * index));
  expect(await Promise.all(at.paths.map((path) => takePorts(at.record, path, RANGE)))).toEqual(blocks);
});

test("the block of a worktree that is gone is free again", async () => {
  await using at = await places("one", "two", "three");
  const [one = "", two = "", three = ""] = at.paths;
  const first = await takePorts(at.record, one, RANGE);
  await takePorts(at.record, two, RANGE);
  await rm(one, { recursive: true });
  expect(await takePorts(at.record, three, RANGE)).toEqual(first);
  expect(JSON.parse(await readFile(at.record, "utf8"))).toHaveLength(2);
});

test("blocks of other sizes and beginnings never overlap", async () => {
  await using at = await places("one", "two", "three");
  const [one = "", two = "", three = ""] = at.paths;
  expect(await takePorts(at.record, one, { from: 20_005, size: 10 })).toEqual({ first: 20_005, size: 10 });
  expect(await takePorts(at.record, two, { from: 20_000, size: 8 })).toEqual({ first: 20_016, size: 8 });
  expect(await takePorts(at.record, three, { from: 20_000, size: 5 })).toEqual({ first: 20_000, size: 5 });
});

test("no block is left, or the record is broken: one line with what to do", async () => {
  await using at = await places("one", "two");
  const [one = "", two = ""] = at.paths;
  await takePorts(at.record, one, { from: 65_530, size: 5 });
  await expect(takePorts(at.record, two, { from: 65_530, size: 5 })).rejects.toThrow("There are no 5 free ports from 65530 on");
  await writeFile(at.record, "{");
  await expect(takePorts(at.record, two, RANGE)).rejects.toThrow(`${at.record} can't be read.`);
});
