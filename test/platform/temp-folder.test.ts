import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeTempFolder, sweepTempFolders } from "../../src/platform/temp-folder.ts";
import { tempFolder } from "../support/temp.ts";

const before = process.env.TMPDIR;
const state: { folder: (AsyncDisposable & { path: string }) | undefined } = { folder: undefined };
beforeEach(async () => {
  state.folder = await tempFolder();
  process.env.TMPDIR = state.folder.path;
});
afterEach(async () => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  await state.folder?.[Symbol.asyncDispose]();
});

/** As a process that was killed left it; `of` changes who its owner was. */
function left(name: string, of: Record<string, unknown> = {}): string {
  const mine = makeTempFolder("mine");
  const owner = JSON.parse(readFileSync(join(mine, ".owner"), "utf8"));
  rmSync(mine, { recursive: true });
  const folder = join(state.folder?.path ?? "", name);
  mkdirSync(join(folder, "tmp"), { recursive: true });
  writeFileSync(join(folder, "tmp", "file"), "");
  const { pid } = spawnSync("true");
  writeFileSync(join(folder, ".owner"), JSON.stringify({ ...owner, pid, ...of }));
  return folder;
}

test("a folder of a process that was killed goes with the first one that another makes", () => {
  const folder = left("roocode-sandbox-abc");
  // The look was made for this process already, by the one above.
  expect(existsSync(folder)).toBe(true);
  expect(sweepTempFolders(state.folder?.path ?? "")).toEqual(["roocode-sandbox-abc"]);
  expect(existsSync(folder)).toBe(false);
});

test("the sweep comes by itself", async () => {
  const folder = left("roocode-sandbox-abc");
  await using another = await tempFolder();
  symlinkSync(folder, join(another.path, "roocode-link"));
  const copy = join(another.path, "roocode-sandbox-def");
  mkdirSync(copy);
  writeFileSync(join(copy, ".owner"), readFileSync(join(folder, ".owner")));
  process.env.TMPDIR = another.path;
  const made = makeTempFolder("pipes");
  expect([existsSync(copy), existsSync(made), existsSync(folder)]).toEqual([false, true, true]);
});

test("folders of the living, of another machine or container, without an owner and with other names stay", () => {
  const living = makeTempFolder("hook");
  const kept = [
    living,
    left("roocode-sandbox-host", { place: `${hostname()}-other pid:[1]` }),
    left("roocode-sandbox-odd", { pid: "1" }),
    left("somebody-else"),
  ];
  const bare = join(state.folder?.path ?? "", "roocode-bare");
  mkdirSync(bare);
  expect(sweepTempFolders(state.folder?.path ?? "")).toEqual([]);
  for (const folder of [...kept, bare]) expect(existsSync(folder)).toBe(true);
});
