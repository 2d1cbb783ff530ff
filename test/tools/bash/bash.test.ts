import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { commandEnvironment } from "../../../src/platform/command-environment.ts";
import { processStart } from "../../../src/platform/process.ts";
import { resultText, type ToolResult } from "../../../src/protocol/tool.ts";
import { ShellState } from "../../../src/tools/bash/shell-state.ts";
import { bashTool } from "../../../src/tools/builtin/bash.ts";
import { eventually } from "../../support/eventually.ts";
import { tempFolder } from "../../support/temp.ts";

async function shell(progress: (text: string) => void = () => undefined) {
  const folder = await tempFolder();
  const state = new ShellState(folder.path);
  const tool = bashTool(state, { outputFolder: join(folder.path, "out"), env: commandEnvironment(process.env) });
  let number = 0;
  return {
    path: folder.path,
    state,
    run(command: string, more: object = {}, signal = new AbortController().signal): Promise<ToolResult> {
      number += 1;
      const context = { cwd: folder.path, callId: `c${number}`, signal, progress };
      return tool.run(tool.parse({ command, ...more }), context).finally(() => state.settle());
    },
    async [Symbol.asyncDispose]() {
      await state[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function untilGone(pid: number): Promise<void> {
  while (processStart(pid) !== undefined) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("Bash", () => {
  test("output that finds no room on the disk ends neither the command nor the process, and the model is told", async () => {
    await using folder = await tempFolder();
    const script = `
      import { ShellState } from ${JSON.stringify(new URL("../../../src/tools/bash/shell-state.ts", import.meta.url).href)};
      import { bashTool } from ${JSON.stringify(new URL("../../../src/tools/builtin/bash.ts", import.meta.url).href)};
      const state = new ShellState(${JSON.stringify(folder.path)});
      const tool = bashTool(state, { outputFolder: ${JSON.stringify(join(folder.path, "out"))}, env: process.env });
      const context = { cwd: "/", callId: "c", signal: new AbortController().signal, progress: () => undefined };
      const result = await tool.run(tool.parse({ command: "seq 1 50000; echo the end" }), context);
      console.log(result.content[0].text);
      await state[Symbol.asyncDispose]();`;
    const file = join(folder.path, "run.mjs");
    await writeFile(file, script);
    const command = ["-c", 'ulimit -S -f 20; exec "$@"', "bash", process.execPath, "--import", "tsx", file];
    const { stdout } = await promisify(execFile)("bash", command, {
      cwd: decodeURIComponent(new URL("../../..", import.meta.url).pathname),
    });
    expect(stdout).toContain("could not be saved (EFBIG");
    expect(stdout).toContain("the end");
  });

  test("gives output and exit code; cd is kept, variables are not", async () => {
    await using sh = await shell();
    expect(await sh.run("mkdir -p a/b && cd a/b && X=1 && echo hi")).toMatchObject({
      content: [{ text: `hi\n[working folder: ${sh.path}/a/b]` }],
    });
    expect(resultText(await sh.run("pwd; echo [$X]"))).toBe(`${sh.path}/a/b\n[]`);
    const failed = await sh.run("echo oops >&2; exit 3");
    expect(failed).toMatchObject({ isError: true, content: [{ text: "oops\n[exit code 3]" }] });
  });
  test("B-15: a folder whose name holds a line feed is kept like any other", async () => {
    await using sh = await shell();
    await sh.run("mkdir $'a\\nb' && cd $'a\\nb'");
    expect(resultText(await sh.run("echo ${PWD##*/}; cd .."))).toBe(`a b\n[working folder: ${sh.path}]`);
  });
  test("returns when the command ends though a grandchild keeps the pipe", async () => {
    await using sh = await shell();
    const started = Date.now();
    const result = await sh.run("sleep 30 & echo pid $!");
    expect(Date.now() - started).toBeLessThan(5_000);
    const pid = Number(/pid (\d+)/.exec(resultText(result))?.[1]);
    process.kill(pid);
    await untilGone(pid);
  });
  test("a timeout stops the whole tree, a child in a session of its own included", async () => {
    await using sh = await shell();
    const result = await sh.run("setsid sleep 60 & sleep 61 & echo $! ; wait", { timeout: 300 });
    expect(resultText(result)).toContain("stopped after 300 ms");
    await untilGone(Number(resultText(result).split("\n")[0]));
  });
  test("an interrupt stops it and keeps what it had said", async () => {
    const stop = new AbortController();
    await using sh = await shell((text) => text.includes("begun") && stop.abort());
    expect(resultText(await sh.run("echo begun; sleep 60", {}, stop.signal))).toBe("begun\n[interrupted by the user]");
  });
  test("standard input is closed: cat ends at once", async () => {
    await using sh = await shell();
    expect(resultText(await sh.run("cat; echo end"))).toBe("end");
  });
  test("long output keeps head and tail; the whole is in a file", async () => {
    await using sh = await shell();
    const text = resultText(await sh.run("seq 1 100000; sleep 0.1"));
    expect(text.length).toBeLessThan(30_000);
    expect(text.startsWith("1\n2\n")).toBe(true);
    expect(text.endsWith("99999\n100000")).toBe(true);
    expect(text).toMatch(/bytes left out; the whole is in \S+ …\]/);
    const [name = ""] = await readdir(join(sh.path, "out"));
    expect((await readFile(join(sh.path, "out", name), "utf8")).split("\n")).toHaveLength(100_001);
  });
  test("control codes are made harmless", async () => {
    await using sh = await shell();
    expect(resultText(await sh.run("printf '\\033[31mred\\033[0m\\033]0;title\\007\\a end'"))).toBe("red end");
  });
  test("keys of providers and what makes shells run other programs are not in its environment", () => {
    const env = commandEnvironment({
      ANTHROPIC_API_KEY: "k",
      OPENAI_API_KEY: "k",
      BASH_ENV: "x",
      LD_PRELOAD: "x",
      GIT_DIR: "x",
      "BASH_FUNC_ls%%": "() { :; }",
      KEEP: "1",
    });
    expect(Object.keys(env).filter((name) => /KEY|BASH|LD_|GIT_DIR/.test(name))).toEqual([]);
    expect(env).toMatchObject({ KEEP: "1", PAGER: "cat", GIT_TERMINAL_PROMPT: "0" });
  });
  test("a command that the person sends to the background runs on as a job, and its call returns with what came so far", async () => {
    await using sh = await shell();
    const running = sh.run("echo early; until [ -e go ]; do sleep 0.02; done; echo late");
    await eventually(() => sh.state.foreground.size === 1);
    expect(sh.state.toBackground()).toBe(1);
    const result = await running;
    expect(result.isError).toBeUndefined();
    expect(resultText(result)).toMatch(/The user sent this command to the background: it runs on as job-1/);
    const job = sh.state.jobs.get("job-1");
    await writeFile(join(sh.path, "go"), "");
    await eventually(() => job?.exit === "exit code 0");
    expect(await readFile(job?.outputPath ?? "", "utf8")).toBe("early\nlate\n");
    expect(sh.state.toBackground()).toBe(0);
  });
  test("a job in the background answers at once and ends with the session", async () => {
    const sh = await shell();
    const text = resultText(await sh.run("echo started; sleep 60", { run_in_background: true }));
    const pid = Number(/pid (\d+)/.exec(text)?.[1]);
    expect(processStart(pid)).toBeDefined();
    await sh[Symbol.asyncDispose]();
    expect(processStart(pid)).toBeUndefined();
  });
});
