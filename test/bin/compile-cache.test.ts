import { execFile } from "node:child_process";
import { readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";

const CACHE = decodeURIComponent(new URL("../../bin/compile-cache.cjs", import.meta.url).pathname);
const run = promisify(execFile);

/** A process that loads `one.js`; it says what V8 thought of the code that was kept for it. */
async function load(folder: string): Promise<string> {
  const script = `
    const vm = require("node:vm");
    const { Script } = vm;
    vm.Script = class extends Script {
      constructor(text, options) {
        super(text, options);
        console.log(options.cachedData === undefined ? "compiled" : this.cachedDataRejected ? "refused" : "taken");
      }
    };
    require(process.argv[1]).keepCompiled(process.argv[2]);
    console.log(require(process.argv[2] + "/one.js").say());`;
  const { stdout } = await run(process.execPath, ["-e", script, CACHE, folder]);
  return stdout.trim().replaceAll("\n", " ");
}

async function files(): Promise<AsyncDisposable & { path: string; kept: () => Promise<string> }> {
  const folder = await tempFolder();
  const { path } = folder;
  await writeFile(join(path, "one.js"), `exports.say = () => require("./two.js").word;`);
  await writeFile(join(path, "two.js"), `exports.word = "hello";`);
  const kept = async () => {
    const [name = ""] = await readdir(join(path, ".compiled"));
    return join(path, ".compiled", name);
  };
  return { path, kept, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("compiled code is kept by the first process and taken by the next; a changed file is compiled again", async () => {
  await using folder = await files();
  expect(await load(folder.path)).toBe("compiled compiled hello");
  expect(await load(folder.path)).toBe("taken taken hello");
  await writeFile(join(folder.path, "two.js"), `exports.word = "HELLO";`);
  expect(await load(folder.path)).toBe("taken compiled HELLO");
  expect(await load(folder.path)).toBe("taken taken HELLO");
  expect(await readdir(join(folder.path, ".compiled"))).toHaveLength(1);
});

test("a damaged or shortened file of compiled code is found before V8 runs it, and made anew", async () => {
  await using folder = await files();
  await load(folder.path);
  const whole = await readFile(await folder.kept());
  const damaged = Buffer.from(whole);
  damaged.fill(0x5a, damaged.length - 40, damaged.length - 20);
  await writeFile(await folder.kept(), damaged);
  expect(await load(folder.path)).toBe("taken compiled hello");
  expect(await load(folder.path)).toBe("taken taken hello");
  for (const length of [0, 3, 20, whole.length - 10]) {
    await truncate(await folder.kept(), length);
    expect(await load(folder.path)).toContain("compiled hello");
    expect(await load(folder.path)).toBe("taken taken hello");
  }
});
