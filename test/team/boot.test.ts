import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UserError } from "../../src/protocol/errors.ts";
import { takeBoot, writeBoot } from "../../src/team/boot.ts";
import { tempFolder } from "../support/temp.ts";

test("a boot file is taken once; what is none is named and stays where it is", async () => {
  await using folder = await tempFolder();
  const boot = {
    version: 1,
    team: "t",
    teamFolder: "/t",
    name: "alice",
    epoch: 1,
    permissionMode: "default",
    headless: true,
    env: {},
  } as const;
  const path = await writeBoot(folder.path, boot);
  expect(await takeBoot(path)).toEqual(boot);
  expect(existsSync(path)).toBe(false);
  await expect(takeBoot(path)).rejects.toThrow(/There is no boot file/);
  const notes = join(folder.path, "notes.json");
  const odd = join(folder.path, "odd");
  await writeFile(notes, '{ "mine": 1 }');
  execFileSync("mkfifo", [odd]);
  await mkdir(join(folder.path, "folder"));
  for (const [file, words] of [
    [notes, /notes\.json is no boot file of this RooCode/],
    [odd, /odd is no file/],
    [join(folder.path, "folder"), /folder is no file/],
  ] as const) {
    const error = await takeBoot(file).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UserError);
    expect(String(error)).toMatch(words);
    expect(existsSync(file)).toBe(true);
  }
});
