import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import type { Answer } from "../../src/interaction/demo/conversation.ts";
import { eventually } from "../support/eventually.ts";
import { type FakeModel, fakeModel, inOrder } from "../support/fake-model.ts";
import { childEnvironment, type TestHome, testHome } from "../support/home.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);
const ASKING = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--permission-prompt-tool", "stdio"];
const TOUCH: readonly Answer[] = [{ calls: [{ name: "Bash", input: { command: "touch made.txt" } }] }, { text: "Made." }];

// biome-ignore lint/suspicious/noExplicitAny: lines of every kind, looked at by tests.
type Json = any;

/** A program in front of the agent, as agent SDKs are. */
class Program implements AsyncDisposable {
  readonly lines: Json[] = [];
  readonly child: ChildProcessWithoutNullStreams;
  stderr = "";
  respond: (request: Json) => Json = () => undefined;

  constructor(home: TestHome, model: FakeModel, args: readonly string[] = ASKING) {
    this.child = spawn(process.execPath, [BIN, ...args], {
      cwd: home.repo,
      env: { ...childEnvironment(home.home), ...model.env("anthropic") },
    });
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    createInterface({ input: this.child.stdout }).on("line", (line) => this.#take(JSON.parse(line)));
  }

  send(value: object): void {
    this.child.stdin.write(`${JSON.stringify(value)}\n`);
  }

  say(content: string): void {
    this.send({ type: "user", message: { role: "user", content } });
  }

  async control(request: object): Promise<Json> {
    const request_id = `mine-${this.lines.length}-${JSON.stringify(request)}`;
    this.send({ type: "control_request", request_id, request });
    const isMine = ({ type, response }: Json) => type === "control_response" && response.request_id === request_id;
    await eventually(() => this.lines.some(isMine));
    return this.lines.find(isMine).response;
  }

  of(type: string): Json[] {
    return this.lines.filter((line) => line.type === type);
  }

  async results(count: number): Promise<Json[]> {
    await eventually(() => this.of("result").length >= count);
    return this.of("result");
  }

  async end(): Promise<number | null> {
    this.child.stdin.end();
    if (this.child.exitCode === null) await once(this.child, "exit");
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null) return;
    this.child.kill("SIGKILL");
    await once(this.child, "exit");
  }

  #take(line: Json): void {
    this.lines.push(line);
    if (line.type !== "control_request") return;
    const response = this.respond(line.request);
    if (response) this.send({ type: "control_response", response: { subtype: "success", request_id: line.request_id, response } });
  }
}

async function askingHome(): Promise<TestHome> {
  const home = await testHome({ "f.txt": "one\n" });
  await mkdir(home.data, { recursive: true });
  // Inside the sandbox commands would not be asked for.
  await writeFile(join(home.data, "config.yaml"), "sandbox: off\n");
  return home;
}

test("a call that needs consent is asked for with its name, input and id, and runs once it is allowed", async () => {
  await using model = await fakeModel(inOrder(...TOUCH));
  await using home = await askingHome();
  await using program = new Program(home, model);
  program.respond = ({ input }) => ({ behavior: "allow", updatedInput: input });
  program.say("x");
  expect(await program.results(1)).toMatchObject([{ subtype: "success", result: "Made.", permission_denials: [] }]);
  const [call] = program.of("assistant")[0].message.content;
  expect(program.of("control_request")).toMatchObject([
    { request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "touch made.txt" }, tool_use_id: call.id } },
  ]);
  expect(await readdir(home.repo)).toContain("made.txt");
  expect(await program.end()).toBe(0);
});

test("a denial's words reach the model; a changed input is no consent", async () => {
  await using model = await fakeModel(({ rounds }) => (rounds % 2 === 0 ? (TOUCH[0] ?? {}) : { text: "ok" }));
  await using home = await askingHome();
  await using program = new Program(home, model);
  program.respond = () => ({ behavior: "deny", message: "not on Fridays" });
  program.say("x");
  expect(await program.results(1)).toMatchObject([{ permission_denials: [{ tool_name: "Bash" }] }]);
  program.respond = () => ({ behavior: "allow", updatedInput: { command: "touch other.txt" } });
  program.say("y");
  await program.results(2);
  const heard = JSON.stringify(model.requests.at(-1)?.steps);
  expect(heard).toContain("User denied this operation: not on Fridays");
  expect(heard).toContain("changed what the call says");
  expect(await readdir(home.repo)).toEqual(expect.not.arrayContaining(["made.txt", "other.txt"]));
});

test("a suggestion that is sent back becomes a rule, and nothing is asked again", async () => {
  await using model = await fakeModel(({ rounds }) => (rounds % 2 === 0 ? (TOUCH[0] ?? {}) : { text: "ok" }));
  await using home = await askingHome();
  await using program = new Program(home, model);
  program.respond = ({ permission_suggestions }) => ({ behavior: "allow", updatedPermissions: permission_suggestions });
  program.say("x");
  program.say("again");
  await program.results(2);
  expect(program.of("control_request")).toHaveLength(1);
  expect(await readFile(join(home.repo, ".roocode/config.local.yaml"), "utf8")).toContain("Bash(touch");
});

test("control requests are answered while a run goes on: mode, model, servers, an unknown one", async () => {
  await using model = await fakeModel(inOrder(...TOUCH));
  await using home = await askingHome();
  await using program = new Program(home, model);
  const first = await program.control({ subtype: "initialize", hooks: null });
  expect(first).toMatchObject({ subtype: "success", response: { output_style: "default", account: {} } });
  expect(first.response.commands.map(({ name }: Json) => name)).toEqual(expect.arrayContaining(["compact", "review"]));
  program.say("x");
  await eventually(() => program.of("control_request").length === 1);
  expect(await program.control({ subtype: "mcp_status" })).toMatchObject({ subtype: "success", response: { mcpServers: [] } });
  expect(await program.control({ subtype: "set_permission_mode", mode: "bypassPermissions" })).toMatchObject({ subtype: "success" });
  expect(await program.control({ subtype: "set_permission_mode", mode: "auto" })).toMatchObject({ subtype: "error" });
  expect(await program.control({ subtype: "set_model", model: "opus" })).toMatchObject({
    response: { model: expect.stringContaining("opus") },
  });
  expect(await program.control({ subtype: "fly" })).toMatchObject({ subtype: "error", error: 'There is no request "fly" here.' });
  program.send({ type: "keep_alive" });
  expect(await program.end()).toBe(0);
  // Nobody could answer any more.
  expect(program.of("result")).toMatchObject([{ permission_denials: [{ tool_name: "Bash" }] }]);
  expect(program.of("error")).toEqual([]);
});

test("an interrupt ends the run at hand and withdraws its question; the next message is a run as ever", async () => {
  await using model = await fakeModel(({ steps }) =>
    JSON.stringify(steps.at(-1)).includes("hello") ? { text: "Hello." } : (TOUCH[0] ?? {}),
  );
  await using home = await askingHome();
  await using program = new Program(home, model);
  program.say("x");
  await eventually(() => program.of("control_request").length === 1);
  expect(await program.control({ subtype: "interrupt" })).toMatchObject({ subtype: "success" });
  program.say("hello");
  expect(await program.results(2)).toMatchObject([
    { subtype: "error_during_execution", error: { kind: "interrupted" } },
    { subtype: "success", result: "Hello." },
  ]);
  expect(program.of("control_cancel_request")).toMatchObject([{ request_id: program.of("control_request")[0].request_id }]);
  expect(await program.end()).toBe(0);
  model.proxy.assertLegal();
});

test("a plan is asked for like a call, and its answer may name the mode to go on in", async () => {
  await using model = await fakeModel(
    inOrder({ calls: [{ name: "ExitPlanMode", input: { plan: "1. Do it." } }] }, ...TOUCH.slice(0, 1), { text: "Done." }),
  );
  await using home = await askingHome();
  await using program = new Program(home, model, [...ASKING, "--permission-mode", "plan"]);
  program.respond = () => ({
    behavior: "allow",
    updatedPermissions: [{ type: "setMode", mode: "bypassPermissions", destination: "session" }],
  });
  program.say("x");
  expect(await program.results(1)).toMatchObject([{ result: "Done." }]);
  expect(program.of("control_request")).toMatchObject([{ request: { tool_name: "ExitPlanMode", input: { plan: "1. Do it." } } }]);
  expect(await readdir(home.repo)).toContain("made.txt");
});

test("messages as JSON lines need no -p, as agent SDKs leave it out; questions need such messages", async () => {
  await using model = await fakeModel(() => ({ text: "Hi." }));
  await using home = await askingHome();
  await using program = new Program(home, model, [...ASKING.slice(1), "--setting-sources=", "--verbose"]);
  program.say("x");
  expect(await program.results(1)).toMatchObject([{ result: "Hi." }]);
  expect(await program.end()).toBe(0);
  const run = await home.roocode(["-p", "x", "--permission-prompt-tool", "stdio"], { env: model.env("anthropic") });
  expect(run).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--input-format stream-json") });
});

test("the example of docs/programs.md runs: it allows git status and denies the rest", async () => {
  const calls = ["git status --short", "touch made.txt"].map((command) => ({ calls: [{ name: "Bash", input: { command } }] }));
  await using model = await fakeModel(inOrder(...calls, { text: "That is all." }));
  await using home = await askingHome();
  // What only looks is not asked for at all without it.
  await writeFile(join(home.data, "config.yaml"), 'sandbox: off\npermissions: { ask: ["Bash(git status *)"] }\n');
  const page = await readFile(new URL("../../docs/programs.md", import.meta.url), "utf8");
  const [, example = ""] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
  await writeFile(join(home.home, "ask.mjs"), example);
  await writeFile(join(home.home, "roocode"), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  await chmod(join(home.home, "roocode"), 0o755);
  const env = { ...childEnvironment(home.home), ...model.env("anthropic") };
  const child = spawn(process.execPath, [join(home.home, "ask.mjs"), "Look"], {
    cwd: home.repo,
    env: { ...env, PATH: `${home.home}:${env.PATH}` },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  expect((await once(child, "close"))[0]).toBe(0);
  expect(said).toContain('allowed: Bash {"command":"git status --short"}');
  expect(said).toContain('denied: Bash {"command":"touch made.txt"}');
  expect(said).toContain("That is all.");
  expect(await readdir(home.repo)).not.toContain("made.txt");
});
