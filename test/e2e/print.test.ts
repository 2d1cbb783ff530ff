import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer } from "../../src/interaction/demo/conversation.ts";
import { fakeModel, inOrder, PROTOCOLS } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { assertSessionLegal } from "../support/proxy.ts";

const EDIT: readonly Answer[] = [
  {
    text: "I look at both files.",
    calls: [
      { name: "ReadFile", input: { path: "src/limits.js" } },
      { name: "ReadFile", input: { path: "README.md" } },
    ],
  },
  {
    calls: [
      { name: "EditFile", input: { path: "src/limits.js", old_string: "minPasswordLength: 8", new_string: "minPasswordLength: 12" } },
    ],
  },
  { text: "The minimum is 12 now." },
];
const ACCEPT = ["--permission-mode", "acceptEdits"];

test.each(PROTOCOLS)("a prompt leads to a real edit over %s, and every body and the session are legal", async (protocol) => {
  await using model = await fakeModel(inOrder(...EDIT));
  await using home = await testHome();
  const run = await home.roocode(["-p", "Make passwords longer", ...ACCEPT], { env: model.env(protocol) });
  expect(run).toEqual({ code: 0, stdout: "The minimum is 12 now.\n", stderr: "" });
  expect(await readFile(join(home.repo, "src/limits.js"), "utf8")).toContain("minPasswordLength: 12,");
  expect(model.proxy.captures).toHaveLength(3);
  model.proxy.assertLegal();
  const [session] = await home.sessions();
  await assertSessionLegal(session ?? "");
});

test.each(PROTOCOLS)("a session that goes on with -c sends its old bytes again and only appends, over %s", async (protocol) => {
  await using model = await fakeModel(({ steps }) => (steps.length === 1 ? { text: "First." } : { text: `Answer ${steps.length}.` }));
  await using home = await testHome();
  await home.roocode(["-p", "one"], { env: model.env(protocol) });
  const second = await home.roocode(["-p", "-c", "two"], { env: model.env(protocol) });
  expect(second).toMatchObject({ code: 0, stdout: "Answer 3.\n" });
  const bodies = model.proxy.captures.map((capture) => JSON.parse(capture.body));
  expect(bodies[1].system ?? bodies[1].messages[0]).toEqual(bodies[0].system ?? bodies[0].messages[0]);
  expect(bodies[1].messages.length).toBe(bodies[0].messages.length + 2);
  model.proxy.assertLegal();
  expect(await home.sessions()).toHaveLength(1);
});

test("a result that went to disk can be read from the place that it names", async () => {
  await using model = await fakeModel(({ steps, rounds }) => {
    const last = steps.at(-1);
    const result = last?.type === "call" ? last.result : "";
    if (rounds === 0) return { calls: [{ name: "Bash", input: { command: "seq 1 20000" } }] };
    const named = /the whole(?: text)? is in (\S+?):? …?/.exec(result)?.[1];
    return named ? { calls: [{ name: "ReadFile", input: { path: named, offset: 12345, limit: 1 } }] } : { text: result };
  });
  await using home = await testHome();
  const run = await home.roocode(["-p", "count", "--permission-mode", "bypassPermissions"], { env: model.env("anthropic") });
  expect(run.stdout).toContain("12345");
  model.proxy.assertLegal();
});

test("the prompt may come on standard input", async () => {
  await using model = await fakeModel(({ steps }) => ({
    text: `Heard: ${steps[0]?.type === "words" ? steps[0].text.split("</system-reminder>").at(-1)?.trim() : ""}`,
  }));
  await using home = await testHome();
  const run = await home.roocode(["-p"], { env: model.env("anthropic"), input: "What is $(this)?\n" });
  expect(run).toMatchObject({ code: 0, stdout: "Heard: What is $(this)?\n" });
});

test("json is one object with the result and the session's id", async () => {
  await using model = await fakeModel(inOrder(...EDIT));
  await using home = await testHome();
  const run = await home.roocode(["-p", "Make passwords longer", ...ACCEPT, "--output-format", "json"], { env: model.env("openai") });
  const result = JSON.parse(run.stdout);
  expect(result).toMatchObject({ type: "result", subtype: "success", is_error: false, num_turns: 3, result: "The minimum is 12 now." });
  expect((await home.sessions())[0]).toContain(result.session_id);
});

test("stream-json is init, messages with paired results, and a result", async () => {
  await using model = await fakeModel(inOrder(...EDIT));
  await using home = await testHome();
  const run = await home.roocode(["-p", "Make passwords longer", ...ACCEPT, "--output-format", "stream-json"], {
    env: model.env("anthropic"),
  });
  const lines = jsonLines(run.stdout);
  expect(lines.map((line) => line.type)).toEqual(["system", "assistant", "user", "user", "assistant", "user", "assistant", "result"]);
  const blocks = lines.flatMap((line) => line.message?.content ?? []);
  const calls = blocks.filter((block) => block.type === "tool_use").map((block) => block.id);
  const results = blocks.filter((block) => block.type === "tool_result").map((block) => block.tool_use_id);
  // Calls that run side by side are shown as they end; what the model gets keeps their order.
  expect(results.toSorted()).toEqual(calls.toSorted());
  expect(results.at(-1)).toBe(calls.at(-1));
});

test("events begin with start and end with loop_complete", async () => {
  await using model = await fakeModel(inOrder(...EDIT));
  await using home = await testHome();
  const run = await home.roocode(["-p", "Make passwords longer", ...ACCEPT, "--output-format", "events"], { env: model.env("anthropic") });
  const types = jsonLines(run.stdout).map((line) => line.type);
  expect([types[0], types.at(-1)]).toEqual(["start", "loop_complete"]);
  expect(types.filter((type) => type === "tool_result")).toHaveLength(3);
});

test("too many turns is exit 1", async () => {
  await using model = await fakeModel(({ steps }) => ({ calls: [{ name: "Glob", input: { pattern: `*.${steps.length}` } }] }));
  await using home = await testHome();
  const run = await home.roocode(["-p", "Look around", "--max-turns", "2"], { env: model.env("anthropic") });
  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(model.proxy.captures).toHaveLength(2);
  model.proxy.assertLegal();
});

test("a question that nobody is there to answer is exit 4, and the answer is printed", async () => {
  await using model = await fakeModel(
    inOrder({ calls: [{ name: "AskUserQuestion", input: { question: "Which one?" } }] }, { text: "Left open: which one." }),
  );
  await using home = await testHome();
  const run = await home.roocode(["-p", "Choose"], { env: model.env("openai") });
  expect(run).toMatchObject({ code: 4, stdout: "Left open: which one.\n" });
});

test.each(PROTOCOLS)("a wrong key is exit 5 at once, with the server's words, over %s", async (protocol) => {
  await using model = await fakeModel(() => ({ status: 401, message: "invalid x-api-key" }));
  await using home = await testHome();
  const run = await home.roocode(["-p", "hello"], { env: model.env(protocol) });
  expect(run).toMatchObject({ code: 5, stdout: "" });
  expect(run.stderr).toContain("invalid x-api-key");
  expect(model.proxy.captures).toHaveLength(1);
});

test("a server that is busy for a moment is asked again with the same bytes", async () => {
  let asked = 0;
  await using model = await fakeModel(() => {
    asked += 1;
    return asked === 1 ? { status: 529, message: "Overloaded" } : { text: "Here." };
  });
  await using home = await testHome();
  const run = await home.roocode(["-p", "hello"], { env: model.env("anthropic") });
  expect(run).toMatchObject({ code: 0, stdout: "Here.\n" });
  const [first, second] = model.proxy.captures;
  expect(second?.body).toBe(first?.body);
});

test("without any key it is exit 2 and says which variables there are", async () => {
  await using home = await testHome();
  const run = await home.roocode(["-p", "hello"]);
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(/ANTHROPIC_API_KEY[\s\S]*OPENAI_API_KEY[\s\S]*roocode demo/);
});

test("a flag that does not exist is exit 2 and one line", async () => {
  await using home = await testHome();
  const run = await home.roocode(["-p", "hello", "--no-such-flag"]);
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr.trim().split("\n")).toHaveLength(1);
});

test("an edit in mode default is denied with a reason, not asked, and the model goes on", async () => {
  await using model = await fakeModel(inOrder(...EDIT));
  await using home = await testHome();
  const before = await readFile(join(home.repo, "src/limits.js"), "utf8");
  const run = await home.roocode(["-p", "Make passwords longer"], { env: model.env("anthropic") });
  expect(run.code).toBe(0);
  expect(run.stderr).toContain("EditFile");
  expect(await readFile(join(home.repo, "src/limits.js"), "utf8")).toBe(before);
});

test("a stream that breaks off in a call runs nothing; the request is repeated", async () => {
  const cut = await readFile(new URL("../fixtures/sse/ant-eof-mid-tool.sse", import.meta.url), "utf8");
  await using model = await fakeModel(() => ({ text: "Whole." }), {
    play: (_, number) => (number === 1 ? { body: cut } : undefined),
  });
  await using home = await testHome();
  await writeFile(join(home.repo, "untouched.txt"), "as it was");
  const run = await home.roocode(["-p", "hello"], { env: model.env("anthropic") });
  expect(run).toMatchObject({ code: 0, stdout: "Whole.\n" });
  expect(model.proxy.captures).toHaveLength(2);
  model.proxy.assertLegal();
});

type Line = { type: string; message?: { content: { type: string; id?: string; tool_use_id?: string }[] } };

function jsonLines(text: string): Line[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}
