import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../src/platform/process.ts";
import { childEnvironment, testHome } from "../support/home.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);

/** What bash offers behind these words, by the script that we print. */
async function inBash(...words: readonly string[]): Promise<string[]> {
  await using home = await testHome();
  const folder = join(home.home, "bin");
  await mkdir(folder);
  await writeFile(join(folder, "roocode"), `#!/bin/sh\nexec ${process.execPath} ${BIN} "$@"\n`);
  await chmod(join(folder, "roocode"), 0o755);
  const script = 'source <(roocode completion bash); COMP_WORDS=(roocode "$@"); COMP_CWORD=$#; _roocode; printf "%s\\n" "${COMPREPLY[@]}"';
  const env = childEnvironment(home.home);
  const result = await runCommand("bash", ["-c", script, "bash", ...words], {
    cwd: home.repo,
    env: { ...env, PATH: `${folder}:${env.PATH}` },
    timeoutMs: 30_000,
  });
  return result.stdout.split("\n").filter((line) => line !== "");
}

test.each<[string[], string[]]>([
  [["te"], ["team"]],
  [
    ["team", "st"],
    ["status", "stop"],
  ],
  [
    ["--permission-mode", ""],
    ["default", "acceptEdits", "plan", "bypassPermissions"],
  ],
  [["demo", "--backend", "in"], ["in-process"]],
  [["completion", "f"], ["fish"]],
])("bash completes %j", async (words, offered) => {
  expect(await inBash(...words)).toEqual(offered);
});

test("what is being completed is not run", async () => {
  await using home = await testHome();
  const before = await home.roocode(["sessions", "list", "--json"]);
  for (const words of [
    ["demo", ""],
    ["do it", ""],
    ["-p", "do it", ""],
    ["team", "goal", ""],
    ["mcp", "add", "x", "--", "y", ""],
  ]) {
    const result = await home.roocode(["--get-yargs-completions", "roocode", ...words]);
    expect([result.code, result.stderr], words.join(" ")).toEqual([0, ""]);
    expect(result.stdout).not.toContain("no AI");
  }
  expect((await home.roocode(["sessions", "list", "--json"])).stdout).toBe(before.stdout);
});

test("names of teams and sessions are completed; an unknown shell is one line", async () => {
  await using home = await testHome();
  await mkdir(join(home.data, "teams", "auth", "roster"), { recursive: true });
  await writeFile(join(home.data, "teams", "auth", "roster", "1.json"), "{}");
  const names = await home.roocode(["--get-yargs-completions", "roocode", "team", "status", ""]);
  expect(names.stdout).toBe("auth\n");
  const unknown = await home.roocode(["completion", "tcsh"]);
  expect([unknown.code, unknown.stderr.split("\n").length]).toEqual([2, 2]);
});
