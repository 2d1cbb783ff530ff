import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openSession } from "../../src/memory/session-file.ts";
import { tempFolder } from "../support/temp.ts";

const FILLER = decodeURIComponent(new URL("../support/fill-session.ts", import.meta.url).pathname);

test("S-07: when the disk takes no more the run goes on, with one warning, and says at the end how much is missing", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "s1.jsonl");
  // The limit counts kilobytes; what a process writes beyond it fails as on a full disk, in the middle of a line too.
  const command = `ulimit -f 10; exec "$0" --import tsx "$1" "$2" 20`;
  const { stdout } = await promisify(execFile)("bash", ["-c", command, process.execPath, FILLER, path]);
  const { unsaved, said } = JSON.parse(stdout);
  expect(unsaved).toBeGreaterThan(5);
  expect(said).toEqual([expect.stringContaining("can't be saved"), expect.stringContaining(`last ${unsaved} entries`)]);

  const text = await readFile(path, "utf8");
  expect(text.endsWith("\n")).toBe(true);
  const { session, loaded } = await openSession(path);
  session.close();
  expect(loaded.notes).toEqual([]);
  expect(text.split("\n")).toHaveLength(1 + 20 - unsaved + 1);
});
