import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { keepProgramsFrom, ownEnvironment, ownProgram } from "../../src/platform/own-programs.ts";
import { tempFolder } from "../support/temp.ts";

async function place() {
  const folder = await tempFolder("roocode-programs");
  for (const name of ["work/bin", "tools"]) {
    await mkdir(join(folder.path, name), { recursive: true });
    await writeFile(join(folder.path, name, "thing"), "");
    await chmod(join(folder.path, name, "thing"), 0o755);
  }
  await symlink(join(folder.path, "work", "bin"), join(folder.path, "link"));
  keepProgramsFrom([join(folder.path, "work")]);
  return folder;
}

test("programs of ours come from no folder of the workspace, under any of its names, and from no relative one", async () => {
  await using folder = await place();
  const inside = [
    join(folder.path, "work", "bin"),
    join(folder.path, "link"),
    join(folder.path, "tools", "..", "work", "bin"),
    ".",
    "",
    "bin",
  ];
  const PATH = [...inside, join(folder.path, "tools")].join(delimiter);
  expect(ownProgram("thing", { PATH })).toBe(join(folder.path, "tools", "thing"));
  expect(ownEnvironment({ PATH, A: "b" })).toEqual({ PATH: join(folder.path, "tools"), A: "b" });
});

test("a program that is in the workspace only is not started; one that is nowhere keeps its name", async () => {
  await using folder = await place();
  const PATH = join(folder.path, "work", "bin");
  expect(() => ownProgram("thing", { PATH })).toThrow("in a folder of the workspace");
  expect(ownProgram("nothing", { PATH })).toBe("nothing");
});
