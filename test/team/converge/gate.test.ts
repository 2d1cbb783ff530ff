import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandLine } from "../../../src/platform/process-tree.ts";
import { runGate } from "../../../src/team/converge/gate.ts";
import { tempFolder } from "../../support/temp.ts";

const never = () => new AbortController().signal;

test("a check is green by its exit code alone; its output comes from both streams", async () => {
  await using folder = await tempFolder();
  expect(await runGate({ command: "echo out; echo err >&2", worktree: folder.path }, never())).toEqual({ ok: true, output: "out\nerr" });
  expect(await runGate({ command: "echo broken; exit 3", worktree: folder.path }, never())).toEqual({
    ok: false,
    output: "broken\n[exit code 3]",
  });
});

test("keys and what steers git are not in the check's environment", async () => {
  await using folder = await tempFolder();
  process.env.SOME_API_KEY = "secret";
  process.env.GIT_DIR = "/nowhere";
  try {
    const { output } = await runGate({ command: "env", worktree: folder.path }, never());
    expect(output).not.toMatch(/SOME_API_KEY|GIT_DIR=/);
    expect(output).toMatch(/^PATH=/m);
  } finally {
    delete process.env.SOME_API_KEY;
    delete process.env.GIT_DIR;
  }
});

test("a check that hangs is ended with all that it started", async () => {
  await using folder = await tempFolder();
  const result = await runGate(
    { command: "(trap '' TERM; sleep 60; touch late) & echo begun; sleep 60", worktree: folder.path, timeoutMs: 300 },
    never(),
  );
  expect(result).toEqual({ ok: false, output: "begun\n[stopped after 300 ms]" });
  expect(existsSync(join(folder.path, "late"))).toBe(false);
});

test("what a check leaves running in the background does not hold the gate", async () => {
  await using folder = await tempFolder();
  const result = await runGate({ command: "sleep 60 & echo done", worktree: folder.path }, never());
  expect(result).toEqual({ ok: true, output: "done" });
});

test.runIf(process.platform === "linux")("what left the check's group and lost its parent is ended too", async () => {
  await using folder = await tempFolder();
  const command = "(setsid sh -c 'echo $$ > pid; exec sleep 60' >/dev/null 2>&1 &); until [ -s pid ]; do sleep 0.05; done";
  expect(await runGate({ command, worktree: folder.path }, never())).toMatchObject({ ok: true });
  expect(commandLine(Number(readFileSync(join(folder.path, "pid"), "utf8")))).toBe("");
});

test("only the tail of a long output is kept", async () => {
  await using folder = await tempFolder();
  const { output } = await runGate({ command: "seq 1 20000; exit 1", worktree: folder.path }, never());
  expect(output.length).toBeLessThan(8_100);
  expect(output).toContain("20000\n[exit code 1]");
});
