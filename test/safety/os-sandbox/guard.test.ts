import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { guardNames } from "../../../src/safety/os-sandbox/guard.ts";
import { tempFolder } from "../../support/temp.ts";

const run = promisify(execFile);

test("a name that may not be made is moved aside also while a command makes and removes it without a pause", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, ".mcp.json");
  const guard = guardNames([{ path, link: undefined, from: folder.path }]);
  const script = `
    const fs = require("node:fs");
    const [path] = process.argv.slice(1);
    const quietly = (action) => { try { action(); } catch {} };
    for (let round = 0; round < 2000; round++) {
      quietly(() => fs.writeFileSync(path, "{}"));
      quietly(() => fs.rmSync(path, { recursive: true, force: true }));
      quietly(() => fs.mkdirSync(path + "/a", { recursive: true }));
      quietly(() => fs.rmSync(path, { recursive: true, force: true }));
    }
    fs.writeFileSync(path, "last");`;
  await run(process.execPath, ["-e", script, path]);
  expect(guard.end()).toEqual([{ path, isLeft: false }]);
  expect(await readdir(folder.path)).not.toContain(".mcp.json");
});

test("a link that a command puts above the name is moved aside itself; what lies behind it is not touched", async () => {
  await using folder = await tempFolder();
  const theirs = join(folder.path, "theirs");
  await mkdir(join(theirs, "fish"), { recursive: true });
  await writeFile(join(theirs, "fish", "config.fish"), "mine");
  const path = join(folder.path, "home", ".config", "fish");
  await mkdir(join(folder.path, "home"));
  const guard = guardNames([{ path, link: undefined, from: join(folder.path, "home") }]);
  await symlink(theirs, join(folder.path, "home", ".config"));
  expect(guard.end()).toEqual([{ path, isLeft: false }]);
  expect(await readFile(join(theirs, "fish", "config.fish"), "utf8")).toBe("mine");
  expect(await readdir(join(folder.path, "home"))).toEqual([".config.refused"]);
});

test("twenty things are moved aside while a command runs; at its end the name is freed in any case", async () => {
  await using folder = await tempFolder();
  const name = join(folder.path, "name");
  for (const aside of ["", ...Array.from({ length: 19 }, (_, index) => `-${index + 2}`)])
    await mkdir(join(`${name}.refused${aside}`, "full"), { recursive: true });
  const guard = guardNames([{ path: name, link: undefined, from: folder.path }]);
  await mkdir(join(name, "full"), { recursive: true });
  expect(guard.end()).toEqual([{ path: name, isLeft: false }]);
  expect(await readdir(`${name}.refused-21`)).toEqual(["full"]);
});

test("a link that was turned leads where it led; what can't be moved aside is named as left", async () => {
  await using folder = await tempFolder();
  const link = join(folder.path, "link");
  // No file system takes `<name>.refused` at this length.
  const name = join(folder.path, "n".repeat(250));
  await symlink("good", link);
  const guard = guardNames([
    { path: link, link: "good", from: folder.path },
    { path: name, link: undefined, from: folder.path },
  ]);
  await run("ln", ["-sfn", "bad", link]);
  await mkdir(join(name, "full"), { recursive: true });
  expect(guard.end()).toEqual([
    { path: link, isLeft: false },
    { path: name, isLeft: true },
  ]);
  expect(await readlink(link)).toBe("good");
  expect(await readlink(`${link}.refused`)).toBe("bad");
});

test("what a command made is moved aside also when it took very many of the names for that beforehand", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, ".mcp.json");
  for (let number = 1; number <= 15_000; number += 1) writeFileSync(`${path}.refused${number === 1 ? "" : `-${number}`}`, "");
  const guard = guardNames([{ path, link: undefined, from: folder.path }]);
  writeFileSync(path, "{}");
  expect(guard.end()).toEqual([{ path, isLeft: false }]);
  expect(await readdir(folder.path)).not.toContain(".mcp.json");
});
