import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resultText, type ToolResult } from "../../../src/protocol/tool.ts";
import { testShell } from "../../support/bash.ts";
import { eventually } from "../../support/eventually.ts";

const quick = async (what: Promise<ToolResult>, withinMs: number): Promise<ToolResult> => {
  const started = performance.now();
  const result = await what;
  expect(performance.now() - started).toBeLessThan(withinMs);
  return result;
};

test.each([
  "cat",
  'read x; echo "[$x]"',
  'python3 -c "input()"',
  "man bash",
  "git log",
  "less out",
  "ssh -T nowhere.invalid",
  "top",
  "sudo -k id </dev/tty",
])("B-01: what reads its input or wants a terminal gets neither, and ends at once: %s", async (command) => {
  await using sh = await testShell();
  await quick(sh.run(command), 8_000);
  expect(sh.living()).toEqual([]);
});

test("B-03: a child that keeps the pipe does not hold the call; it is named, is a job, and ends with the session", async () => {
  const sh = await testShell();
  const result = await quick(sh.run("sleep 55 & echo ready"), 4_000);
  expect(result.isError).toBeUndefined();
  expect(resultText(result)).toMatch(/^ready\n\[still running in the background as job-1: pid \d+: sleep 55\./);
  expect(sh.living()).toHaveLength(1);
  await sh[Symbol.asyncDispose]();
  expect(sh.living()).toEqual([]);
});

test("B-03: what a child prints after its shell has ended is not lost and does not end it", async () => {
  await using sh = await testShell();
  await sh.run("(until [ -e go ]; do sleep 0.02; done; echo one; echo two) & echo ready");
  await writeFile(join(sh.path, "go"), "");
  expect(resultText(await sh.call("BashOutput", { job_id: "job-1", wait: 10_000 }))).toMatch(/^one\ntwo\n\[job-1: ended/);
});

test.each([
  ["a child and a grandchild", "(sleep 300 & sleep 300); true"],
  ["a session of its own", "setsid sleep 300 & wait"],
  [
    "two forks and a session, with all pipes closed",
    "(setsid sh -c 'sleep 300 & sleep 300' </dev/null >/dev/null 2>&1 3>&- &) ; sleep 300",
  ],
  ["signals that are ignored", "trap '' TERM INT HUP; while :; do sleep 0.1; done"],
  ["what is stopped", "sleep 300 & kill -STOP $!; wait"],
])("B-05: a timeout leaves nothing: %s", async (_, command) => {
  await using sh = await testShell();
  const result = await quick(sh.run(`echo begun; ${command}`, { timeout: 400 }), 6_000);
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^begun\n[\s\S]*\[timeout: stopped after 400 ms/) }],
  });
  expect(sh.living()).toEqual([]);
});

test("a daemon that closed everything ends with the session at the latest", async () => {
  const sh = await testShell();
  await sh.run("(setsid sh -c 'exec sleep 300' </dev/null >/dev/null 2>&1 3>&- &)");
  await eventually(() => sh.living().length === 1);
  await sh[Symbol.asyncDispose]();
  expect(sh.living()).toEqual([]);
});

test("what forks without end is stopped by the number of its processes, and nothing is left", async () => {
  await using sh = await testShell(undefined, { maxProcesses: 40 });
  // A crowd, not a bomb: a fault here must not take the machine. scripts/shell-torture.ts has the bomb, behind a limit.
  const text = resultText(await sh.run("for i in $(seq 150); do sleep 20 & done; wait"));
  expect(text).toBe("[stopped: it had started more than 40 processes; ended with all that it had started]");
  expect(sh.living()).toEqual([]);
});

test("B-07: endless output costs neither memory nor disk, and is told with its size and where it lies", async () => {
  await using sh = await testShell();
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 20);
  const text = resultText(await sh.run("yes | head -c 150M; echo; echo the end"));
  clearInterval(watch);
  expect((peak - before) / 2 ** 20).toBeLessThan(100);
  expect(text).toMatch(/\[… the middle of 157286409 bytes left out; the first 671\d{5} bytes are in \S+ …\]/);
  expect(text.endsWith("y\n\nthe end")).toBe(true);
  const sizes = readdirSync(join(sh.path, "out")).map((name) => statSync(join(sh.path, "out", name)).size);
  expect(sizes).toEqual([expect.closeTo(64 * 1024 * 1024, -6)]);
});

test("B-07: progress that is streamed is bounded too", async () => {
  let characters = 0;
  await using sh = await testShell((text) => {
    characters += text.length;
  });
  await sh.run("timeout 1 yes");
  expect(characters).toBeGreaterThan(0);
  expect(characters).toBeLessThan(80_000);
});

test("B-09: characters over pieces of the pipe are whole", async () => {
  await using sh = await testShell();
  expect(resultText(await sh.run("printf 'a \\xe4\\xb8'; sleep 0.1; printf '\\xad b'"))).toBe("a 中 b");
  const text = resultText(await sh.run("for i in $(seq 50000); do printf 配; done"));
  expect(text).not.toContain("\uFFFD");
  const path = /whole is in (\S+) …/.exec(text)?.[1] ?? "";
  expect(await readFile(path, "utf8")).toBe("配".repeat(50_000));
});

test("B-11: an exit code of 1 that says no is information with its number, others are failures", async () => {
  await using sh = await testShell();
  await writeFile(join(sh.path, "a"), "1\n");
  await writeFile(join(sh.path, "b"), "2\n");
  for (const command of [
    "grep -r zzz_n[o]ne .",
    "diff a b",
    "test -f none",
    "cd . && grep zz a",
    "echo x; cat a | grep 'x;y|z'",
    "[ -e none ]",
  ]) {
    const result = await sh.run(command);
    expect(result.isError, command).toBeUndefined();
    expect(resultText(result)).toContain("[exit code 1: the answer is no");
  }
  for (const command of ["false", "grep x /nonexistent", "false && grep x a", "grep x a; false", "grep zz a || false"]) {
    const result = await sh.run(command);
    expect(result.isError, command).toBe(true);
    expect(resultText(result)).toMatch(/\[exit code [12]\]$/);
  }
});

test.each([
  ["sh -c 'kill -TERM $$'", "exit code 143: ended by signal TERM"],
  ["sh -c 'kill -9 $$'", "exit code 137: ended by signal KILL"],
  ["kill -9 $$", "ended by signal KILL"],
  ["exit 124", "exit code 124"],
  ["timeout 1 sleep 5", "exit code 124"],
])("B-12: how it ended is told apart, and only a timeout is called one: %s", async (command, words) => {
  await using sh = await testShell();
  const text = resultText(await quick(sh.run(command), 5_000));
  expect(text.endsWith(`[${words}]`)).toBe(true);
  expect(text).not.toContain("timeout");
});

test("B-13: the text of a command reaches bash as it is", async () => {
  await using sh = await testShell();
  const body = "it's $HOME \\\\ `!` {a,b}";
  expect(resultText(await sh.run(`cat <<'MY-EOF'\n${body}\nMY-EOF`))).toBe(body);
  const [inner, pid] = resultText(await sh.run('true | true; { echo in; }; echo "PID=$$"')).split("\n");
  expect(inner).toBe("in");
  expect(Number(pid?.slice(4))).toBeGreaterThan(5);
  expect(resultText(await sh.run("echo 1\nnosuchcommand\n"))).toContain("line 2: nosuchcommand");
  expect(await sh.run("if")).toMatchObject({ isError: true });
  await expect(sh.run("echo a\0b")).rejects.toThrow("NUL");
});

test("both outputs come in the order in which they were written, and can be opened by name", async () => {
  await using sh = await testShell();
  expect(resultText(await sh.run("echo 1; echo 2 >&2; echo 3 > /dev/stderr; echo 4 | tee /dev/stderr >/dev/null; echo 5"))).toBe(
    "1\n2\n3\n4\n5",
  );
});

test("B-15: a cd is told, is kept from the next round on, and calls of one round do not see each other's", async () => {
  await using sh = await testShell();
  await mkdir(join(sh.path, "sub", "a"), { recursive: true });
  expect(resultText(await sh.run("cd sub && pwd"))).toBe(`${sh.path}/sub\n[working folder: ${sh.path}/sub]`);
  expect(resultText(await sh.run("pwd"))).toBe(`${sh.path}/sub`);
  const [first, second] = [await sh.call("Bash", { command: "cd a && sleep .2; pwd" }), await sh.call("Bash", { command: "pwd" })];
  expect(resultText(first)).toContain(`${sh.path}/sub/a\n`);
  expect(resultText(second)).toBe(`${sh.path}/sub`);
  sh.state.settle();
  expect(resultText(await sh.run("pwd"))).toBe(`${sh.path}/sub/a`);
  expect(resultText(await sh.run("trap 'echo mine' EXIT; cd ..; exit 0"))).toBe("mine");
});

test("B-16: a folder that is gone is said to be, and commands go on in the nearest one that is there", async () => {
  await using sh = await testShell();
  expect(resultText(await sh.run("mkdir t && cd t && rm -rf ../t"))).toContain(`${sh.path}/t is gone: commands run in ${sh.path} now]`);
  expect(resultText(await sh.run("echo ok"))).toBe(`[the working folder ${sh.path}/t is gone: commands run in ${sh.path} now]\nok`);
  expect(resultText(await sh.run("echo ok"))).toBe("ok");
  await sh.run("mkdir -p x/y && cd x/y");
  await rm(join(sh.path, "x", "y"), { recursive: true });
  expect(resultText(await sh.run("pwd"))).toBe(
    `[the working folder ${sh.path}/x/y is gone: commands run in ${sh.path}/x now]\n${sh.path}/x`,
  );
});

test("B-17: colours, titles and frames of a progress bar do not reach the model", async () => {
  await using sh = await testShell();
  const command = `printf '\\033[31mred\\033[0m\\n'; for i in $(seq 500); do printf "\\r%d%%" $i; done; printf '\\n\\033]0;T\\007done\\n'`;
  expect(resultText(await sh.run(command))).toBe("red\n500%\ndone");
});

test("B-20: pkill -f does not find its own shell by the text of its own command", async () => {
  await using sh = await testShell();
  expect(resultText(await sh.run('pkill -f "server --port 4999"; echo rc=$?'))).toBe("rc=1");
});

test("a secret is masked in the result, in what is streamed and in the file", async () => {
  let streamed = "";
  await using sh = await testShell((text) => {
    streamed += text;
  });
  const key = `gh${"p"}_${"a1B2c3D4e5".repeat(4)}`;
  await writeFile(join(sh.path, "f"), `x\ntoken ${key}\n`.repeat(1_000));
  const text = resultText(await sh.run("cat f; printf 'ghp''_%s' a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5"));
  const [name = ""] = readdirSync(join(sh.path, "out"));
  for (const where of [text, streamed, readFileSync(join(sh.path, "out", name), "utf8")]) {
    expect(where).toContain("[GitHub token hidden]");
    expect(where).not.toContain("a1B2c3D4e5");
  }
});

test("a command that reads a FIFO nobody writes to ends by its timeout", async () => {
  await using sh = await testShell();
  const result = await quick(sh.run("mkfifo p; cat p", { timeout: 300 }), 4_000);
  expect(resultText(result)).toBe("[timeout: stopped after 300 ms, with all that it had started]");
});
