import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openSession } from "../../src/memory/session-file.ts";
import { isUnwritable } from "../../src/platform/files.ts";
import { tempFolder } from "../support/temp.ts";

const FILLER = decodeURIComponent(new URL("../support/fill-session.ts", import.meta.url).pathname);

/** The limit counts kilobytes; what a process writes beyond it fails as on a full disk, in the middle of a line too. */
async function fill(path: string, ...mend: string[]): Promise<{ unsaved: number; said: string[] }> {
  const command = ["-c", 'ulimit -S -f 10; exec "$@"', "bash", process.execPath, "--import", "tsx", FILLER, path, "20", ...mend];
  return JSON.parse((await promisify(execFile)("bash", command)).stdout);
}

async function load(path: string) {
  const { session, loaded } = await openSession(path);
  session.close();
  return loaded;
}

test("S-07: when the disk takes no more the run goes on, with one warning, and says at the end how much is missing", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "s1.jsonl");
  const { unsaved, said } = await fill(path);
  expect(unsaved).toBeGreaterThan(5);
  expect(said).toEqual([expect.stringContaining("can't be saved"), expect.stringContaining(`last ${unsaved} entries`)]);
  const text = await readFile(path, "utf8");
  expect(text.endsWith("\n")).toBe(true);
  expect(text.split("\n")).toHaveLength(1 + 20 - unsaved + 1);
  expect((await load(path)).notes).toEqual([]);
});

test("S-07: when there is room again everything that waited is written, in its order", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "s1.jsonl");
  const { unsaved, said } = await fill(path, "mend");
  expect(unsaved).toBe(0);
  expect(said).toEqual([expect.stringContaining("can't be saved"), expect.stringContaining("saved again")]);
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n").slice(1);
  expect(lines.map((line) => JSON.parse(line).message.content[0].text.split(" ")[0])).toEqual([
    ...Array.from({ length: 20 }, (_, index) => String(index)),
    "There",
  ]);
});

test("a folder that can't be made on a read-only disk counts as a disk that takes no more; a missing file does not", () => {
  const missing = (syscall: string) => Object.assign(new Error("ENOENT"), { code: "ENOENT", syscall });
  expect([isUnwritable(missing("mkdir")), isUnwritable(missing("open"))]).toEqual([true, false]);
});
