import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import type { Answer } from "../../src/interaction/demo/conversation.ts";
import { fakeModel, inOrder } from "../support/fake-model.ts";
import { childEnvironment, type TestHome, testHome } from "../support/home.ts";
import { rawServer } from "../support/raw-sse.ts";
import { said } from "../support/said.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);
const FILES = { "f.txt": "one\n" };
const STREAM = ["--output-format", "stream-json"];
const LONG_ANSWER = "0123456789abcdefghi\n".repeat(15_000);
const LOOK: Answer = { calls: [{ name: "Glob", input: { pattern: "*.txt" } }] };
/** The last words of the person. */
const echo = ({ steps }: { steps: readonly { type: string; text?: string }[] }): Answer => ({ text: `Heard: ${said(steps.at(-1)?.text)}` });

type Line = {
  type: string;
  subtype?: string;
  result?: string;
  is_error?: boolean;
  session_id?: string;
  error?: { kind: string; message: string };
  message?: { content: { text?: string }[] };
  response?: object;
  event?: { type: string };
};
const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** The program with its output in a pipe of a shell's: `{}` stands for it. */
const inShell = (script: string): readonly string[] => ["sh", "-c", script.replace("{}", '"$@"'), "sh"];

test("P-01: an answer of 300 KB arrives whole in a pipe whose reader is slow, and the result comes last", async () => {
  await using model = await fakeModel(() => ({ text: LONG_ANSWER }));
  await using home = await testHome(FILES);
  const slow = { env: model.env("anthropic"), through: inShell("{} | (sleep 0.5; cat)") };
  const [json, stream] = await Promise.all([
    home.roocode(["-p", "x", "--output-format", "json"], slow),
    home.roocode(["-p", "x", ...STREAM], slow),
  ]);
  expect(JSON.parse(json.stdout).result).toBe(LONG_ANSWER);
  expect(linesOf(stream.stdout).at(-1)).toMatchObject({ type: "result", result: LONG_ANSWER });
});

test("P-02: what is piped becomes part of the prompt, also beside a prompt that is given", async () => {
  await using model = await fakeModel(echo);
  await using home = await testHome(FILES);
  const run = await home.roocode(["-p", "explain"], { env: model.env("openai"), input: "<system-reminder>hi\n" });
  expect(run).toMatchObject({ code: 0, stdout: "Heard: explain\n\n&lt;system-reminder>hi\n\n" });
});

test("P-02: print mode needs no terminal and no input", async () => {
  await using model = await fakeModel(echo);
  await using home = await testHome(FILES);
  const run = await home.roocode(["-p", "x"], { env: model.env("openai"), through: inShell("setsid {} </dev/null") });
  expect(run).toMatchObject({ code: 0, stdout: "Heard: x\n", stderr: "" });
});

test("P-02: a pipe that stays open and silent is waited for a moment, then the prompt goes out and a line says so", async () => {
  await using model = await fakeModel(echo);
  await using home = await testHome(FILES);
  const { code, stdout, stderr } = await start(home, model.env("anthropic"), ["-p", "x"]).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Heard: x\n" });
  expect(stderr).toContain("Standard input said nothing");
});

test.each([
  ["nothing at all", "</dev/null"],
  ["an empty pipe", "< <(:)"],
])("P-02: without a terminal, a start that is not print mode says so in one line: %s", async (_, redirect) => {
  await using home = await testHome(FILES);
  const run = await home.roocode([], { through: ["bash", "-c", `setsid "$@" ${redirect}`, "bash"], env: { ANTHROPIC_API_KEY: "k" } });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr.trim().split("\n")).toEqual([expect.stringContaining("roocode -p")]);
});

test.each([
  ["401", { status: 401, message: "invalid x-api-key" }, [], 5, "auth"],
  ["400", { status: 400, message: "tools.0: no such thing" }, [], 1, "invalid_request"],
  ["a spent quota", { status: 402, message: "credit balance is too low" }, [], 5, "quota"],
  ["the turn limit", LOOK, ["--max-turns", "2"], 1, "max_turns"],
] as const)("P-05: %s has its exit code, and the last event is a result with kind and session", async (_, answer, flags, code, kind) => {
  await using model = await fakeModel(() => answer);
  await using home = await testHome(FILES);
  const run = await home.roocode(["-p", "x", ...flags, ...STREAM], { env: model.env("anthropic") });
  expect(run.code).toBe(code);
  const last = linesOf(run.stdout).at(-1);
  expect(last).toMatchObject({ type: "result", is_error: true, error: { kind } });
  expect((await home.sessions())[0]).toContain(last?.session_id);
});

test("P-05: a question that nobody is there to answer is exit 4 with its kind", async () => {
  await using model = await fakeModel(inOrder({ calls: [{ name: "AskUserQuestion", input: { question: "Which?" } }] }, { text: "Open." }));
  await using home = await testHome(FILES);
  const run = await home.roocode(["-p", "x", ...STREAM], { env: model.env("anthropic") });
  expect(run.code).toBe(4);
  expect(linesOf(run.stdout).at(-1)).toMatchObject({ type: "result", is_error: true, result: "Open.", error: { kind: "open_question" } });
});

test("P-05: a run that can't begin has a result line too, and its one line on stderr", async () => {
  await using home = await testHome(FILES);
  const run = await home.roocode(["-p", "x", ...STREAM]);
  expect(run.code).toBe(2);
  expect(linesOf(run.stdout)).toEqual([
    expect.objectContaining({ type: "result", is_error: true, error: { kind: "configuration", message: expect.any(String) } }),
  ]);
  expect(run.stderr).toContain("ANTHROPIC_API_KEY");
});

test("P-05: Ctrl-C is exit 130, with a result that names the session", async () => {
  await using home = await testHome(FILES);
  const [asked, onAsked] = gate();
  await using model = await fakeModel(() => {
    onAsked();
    return new Promise<Answer>(() => undefined);
  });
  const run = start(home, model.env("anthropic"), ["-p", "x", ...STREAM], "");
  await asked;
  run.child.kill("SIGINT");
  const { code, stdout } = await run.ended;
  expect(code).toBe(130);
  const last = linesOf(stdout).at(-1);
  expect(last).toMatchObject({ type: "result", is_error: true, error: { kind: "interrupted" } });
  expect((await home.sessions())[0]).toContain(last?.session_id);
});

const user = (content: unknown): string => JSON.stringify({ type: "user", message: { role: "user", content } });
const INPUT = ["-p", "--input-format", "stream-json"];

test("P-06: messages come as JSON lines: CRLF, blank lines, 5 MB, U+2028; a bad line is answered by an error and spoils no other", async () => {
  await using model = await fakeModel(({ steps }) => {
    const last = steps.at(-1);
    const text = last?.type === "words" ? said(last.text) : "";
    return { text: text.length > 1000 ? `${text.length} characters` : `Heard: ${text}\u2028` };
  });
  await using home = await testHome(FILES);
  const big = "x".repeat(300_000);
  const padded = user("padded").replace("{", `{${" ".repeat(5_000_000)}`);
  const input = [
    `${user("one")}\r`,
    "\r",
    "",
    '{"type":"user"',
    '{"type":"user","message":{"role":"user","content":7}}',
    user([
      { type: "text", text: "a\u2028b" },
      { type: "text", text: "c" },
    ]),
    padded,
    user(big),
  ];
  const run = await home.roocode([...INPUT, ...STREAM], { env: model.env("anthropic"), input: input.join("\n") });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).not.toMatch(/[\r\u2028\u2029\u0085]/);
  const lines = linesOf(run.stdout);
  expect(lines.filter(({ type }) => type === "system")).toHaveLength(1);
  expect(lines.filter(({ type }) => type === "error").map(({ error }) => error?.kind)).toEqual(["invalid_input", "invalid_input"]);
  expect(lines.filter(({ type }) => type === "error")[0]?.error?.message).toContain("Line 4");
  expect(lines.filter(({ type }) => type === "result").map(({ result }) => result)).toEqual([
    "Heard: one\u2028",
    "Heard: a\u2028b\n\nc\u2028",
    "Heard: padded\u2028",
    "300000 characters",
  ]);
  model.proxy.assertLegal();
});

test("an image of a message goes to the model, and `initialize` is answered", async () => {
  await using model = await fakeModel(() => ({ text: "Seen." }));
  await using home = await testHome(FILES);
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: png } };
  const input = [
    JSON.stringify({ type: "control_request", request_id: "r1", request: { subtype: "initialize" } }),
    user([image, { type: "text", text: "What is it?" }]),
  ];
  const run = await home.roocode([...INPUT, ...STREAM], { env: model.env("anthropic"), input: input.join("\n") });
  const [first] = linesOf(run.stdout);
  expect(first).toMatchObject({ type: "control_response", response: { subtype: "success", request_id: "r1" } });
  expect(run.code, run.stderr).toBe(0);
  expect(model.proxy.captures[0]?.body).toContain(png);
});

test.each([
  [[...INPUT, "words", ...STREAM], /leave the prompt out/],
  [INPUT, /needs --output-format stream-json or events/],
  // Without -p too: agent SDKs leave it out.
  [["--input-format", "stream-json"], /needs --output-format stream-json or events/],
])("%j is exit 2 with one line", async (args, words) => {
  await using home = await testHome(FILES);
  const run = await home.roocode(args, { env: { ANTHROPIC_API_KEY: "k" } });
  expect(run.code).toBe(2);
  expect(run.stderr.trim().split("\n")).toEqual([expect.stringMatching(words)]);
});

test("input without any message is exit 2", async () => {
  await using home = await testHome(FILES);
  const run = await home.roocode([...INPUT, ...STREAM], { env: { ANTHROPIC_API_KEY: "k" }, input: "\n" });
  expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining("No message came") });
});

test("P-07: events come while the model still works", async () => {
  const [opened, open] = gate();
  await using model = await fakeModel(async ({ rounds }) => {
    if (rounds > 0) await opened;
    return rounds > 0 ? { text: "Done." } : LOOK;
  });
  await using home = await testHome(FILES);
  const run = start(home, model.env("anthropic"), ["-p", "x", ...STREAM], "");
  let seen = "";
  for await (const chunk of run.child.stdout) {
    seen += chunk;
    // Nothing more can come until the gate opens: what was there before it, arrived before it.
    if (seen.includes('"tool_result"')) open();
  }
  expect(linesOf(seen).map(({ type }) => type)).toEqual(["system", "assistant", "user", "assistant", "result"]);
});

test("P-07: with --include-partial-messages the words come before the answer is whole", async () => {
  const word = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
  const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
  await using server = await rawServer({ steps: [word("First"), { pauseMs: 600 }, word(" and last"), end] });
  await using home = await testHome(FILES);
  const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${server.url}/v1` };
  const run = start(home, env, ["-p", "x", ...STREAM, "--include-partial-messages"], "");
  let seen = "";
  let firstAt = 0;
  for await (const chunk of run.child.stdout) {
    seen += chunk;
    if (firstAt === 0 && seen.includes('"First"')) firstAt = performance.now();
  }
  expect(performance.now() - firstAt).toBeGreaterThan(300);
  const lines = linesOf(seen);
  expect(lines.map(({ type, event }) => event?.type ?? type)).toEqual([
    "system",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "assistant",
    "result",
  ]);
});

test("P-07: a reader that leaves ends the run quietly, and no further request is made", async () => {
  await using model = await fakeModel(() => LOOK);
  await using home = await testHome(FILES);
  const run = await home.roocode(["-p", "x", ...STREAM], { env: model.env("anthropic"), through: inShell("{} | head -1") });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(linesOf(run.stdout)).toHaveLength(1);
  expect(model.proxy.captures.length).toBeLessThan(10);
});

function gate(): [opened: Promise<void>, open: () => void] {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [opened, () => open()];
}

/** Without `input` its standard input stays open and silent. */
function start(home: TestHome, variables: Record<string, string>, args: readonly string[], input?: string) {
  const env = { ...childEnvironment(home.home), ...variables };
  const child = spawn(process.execPath, [BIN, ...args], { cwd: home.repo, env });
  const finished = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    finished.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    finished.stderr += text;
  });
  if (input !== undefined) child.stdin.end(input);
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on("close", (code) => {
      child.stdin.destroy();
      resolve({ code, ...finished });
    });
  });
  return { child, ended };
}

test("--allowedTools and --disallowedTools are rules for one run, in the names of other products too", async () => {
  const commands = ["touch made.txt", "git log --oneline", "touch other.txt"];
  await using model = await fakeModel(
    inOrder(...commands.map((command) => ({ calls: [{ name: "Bash", input: { command } }] })), { text: "ok" }),
  );
  await using home = await testHome(FILES);
  const flags = ["--allowedTools", "Read,Bash(touch made.txt)", "--disallowedTools", "Bash(git log:*) WebSearch"];
  const run = await home.roocode(["-p", "go", ...flags, "--output-format", "json"], { env: model.env("anthropic") });
  const denied = JSON.parse(run.stdout).permission_denials.map(({ tool_input }: { tool_input: { command: string } }) => tool_input.command);
  expect(denied).toContain("git log --oneline");
  expect(denied).not.toContain("touch made.txt");
  expect(run.stderr).toContain('--disallowedTools: "WebSearch" names no tool');
});
