import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { processesWithEnvironment } from "../../src/platform/process-tree.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel, inOrder } from "../support/fake-model.ts";
import { childEnvironment, type TestHome, testHome } from "../support/home.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);
const BYPASS = ["--permission-mode", "bypassPermissions"];
const bash = (command: string, more: object = {}) => ({ calls: [{ name: "Bash", input: { command, ...more } }] });

/** What carries this mark: the product itself and all that it starts. */
const living = (home: TestHome) => processesWithEnvironment("TEST_HOME", home.home);

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGINT", 130],
] as const)("B-19: %s ends print mode with all that its commands started, and the session is whole", async (signal, code) => {
  await using home = await testHome();
  await using model = await fakeModel(inOrder(bash("sleep 321 & touch started; setsid sleep 321"), { text: "Done." }));
  const env = { ...childEnvironment(home.home), ...model.env("anthropic"), TEST_HOME: home.home };
  const child = spawn(process.execPath, [BIN, "-p", "x", ...BYPASS], { cwd: home.repo, env, stdio: "ignore" });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  await eventually(() => existsSync(join(home.repo, "started")));
  child.kill(signal);
  expect(await ended).toBe(code);
  expect(living(home)).toEqual([]);
  const lines = (await readFile((await home.sessions())[0] ?? "", "utf8")).trimEnd().split("\n");
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
});

test("B-19: even an agent that is killed leaves no command behind, nor the dog that watched it", async () => {
  await using home = await testHome();
  await using model = await fakeModel(inOrder(bash("(setsid sleep 321 >/dev/null 2>&1 3>&- &); sleep 321"), { text: "Done." }));
  const env = { ...childEnvironment(home.home), ...model.env("anthropic"), TEST_HOME: home.home };
  const child = spawn(process.execPath, [BIN, "-p", "x", ...BYPASS], { cwd: home.repo, env, stdio: "ignore", detached: true });
  await eventually(() => living(home).length >= 4);
  if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  await eventually(() => living(home).length === 0, 5_000);
});

test("B-20: pkill -f with words of the prompt ends neither the product nor its own shell", async () => {
  await using home = await testHome();
  const command = `pkill -f "server --port 4999"; echo rc=$?`;
  await using model = await fakeModel(inOrder(bash(command), { text: "Done." }));
  // Ending processes by name is asked for in every mode; only a rule of the same words answers.
  await mkdir(home.data, { recursive: true });
  await writeFile(join(home.data, "config.yaml"), `permissions: { allow: [${JSON.stringify(`Bash(${command})`)}] }\n`);
  const env = { ...childEnvironment(home.home), ...model.env("openai") };
  const run = spawn(process.execPath, [BIN, "-p", `run pkill -f "server --port 4999"`, ...BYPASS], { cwd: home.repo, env });
  expect(await new Promise((resolve) => run.on("exit", resolve))).toBe(0);
  expect(model.proxy.captures.at(-1)?.body).toContain("rc=1");
});

test("the model hears with its next request that a job has ended, and reads its output", async () => {
  await using home = await testHome();
  await using model = await fakeModel(
    inOrder(
      bash("echo from the job; exit 3", { run_in_background: true }),
      bash("sleep 0.5"),
      { calls: [{ name: "BashOutput", input: { job_id: "job-1" } }] },
      { text: "Done." },
    ),
  );
  const run = await home.roocode(["-p", "x", ...BYPASS], { env: model.env("anthropic") });
  expect(run.code).toBe(0);
  const bodies = model.proxy.captures.map(({ body }) => body);
  expect(bodies[2]).toMatch(/<task-notification task=\\"job-1\\" status=\\"ended\\">\\n[^<]*exit code 3/);
  expect(bodies[3]).toContain("from the job\\n[job-1: exit code 3");
  model.proxy.assertLegal();
});

test("tools that the settings take away are not offered, and their timeout is the one a command has", async () => {
  await using home = await testHome();
  const names = (body: string | undefined) => (JSON.parse(body ?? "{}").tools ?? []).map((tool: { name: string }) => tool.name);
  const settings = join(home.data, "config.yaml");
  await mkdir(home.data, { recursive: true });
  await writeFile(settings, "tools: { allowWrite: false, bashTimeout: 300 }\n");
  await using model = await fakeModel(inOrder(bash("sleep 60"), { text: "Done." }));
  const run = await home.roocode(["-p", "x", ...BYPASS], { env: model.env("anthropic") });
  expect(run.code).toBe(0);
  const [first, second] = model.proxy.captures.map(({ body }) => body);
  expect(names(first)).toContain("Bash");
  expect(names(first)).not.toContain("WriteFile");
  expect(names(first)).not.toContain("EditFile");
  expect(second).toContain("timeout: stopped after 300 ms");
  await writeFile(settings, "tools: { allowBash: false }\n");
  await home.roocode(["-p", "x", ...BYPASS], { env: model.env("anthropic") });
  const later = names(model.proxy.captures[2]?.body);
  expect(later).toContain("EditFile");
  // TaskStop stays: it ends sub-agents as well.
  for (const name of ["Bash", "BashOutput"]) expect(later).not.toContain(name);
  expect((await home.roocode(["config"])).stdout).toMatch(/tools\.allowBash: false {2}\(user/);
});
