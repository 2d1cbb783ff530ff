import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer, Conversation } from "../../src/interaction/demo/conversation.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel, inOrder } from "../support/fake-model.ts";
import { childEnvironment, type Finished, type TestHome, testHome } from "../support/home.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);
const ACPX = decodeURIComponent(new URL("dist/cli.js", import.meta.resolve("acpx/package.json")).pathname);
const MAKE: readonly Answer[] = [{ calls: [{ name: "Bash", input: { command: "touch made.txt" } }] }, { text: "All done." }];

type Acpx = AsyncDisposable & { home: TestHome; run(...args: readonly string[]): Promise<Finished> };

/** The public client acpx, with the built program as its agent. */
async function acpxWith(model: { env(protocol: "anthropic"): Record<string, string> }): Promise<Acpx> {
  const home = await testHome({ "f.txt": "one\n" });
  await mkdir(home.data, { recursive: true });
  await writeFile(join(home.data, "config.yaml"), "sandbox: off\n");
  const options = { cwd: home.repo, env: { ...childEnvironment(home.home), ...model.env("anthropic") }, timeout: 50_000 };
  const agent = ["--agent", `${process.execPath} ${BIN} acp`, "--cwd", home.repo, "--ttl", "1"];
  return {
    home,
    run: (...args) =>
      new Promise((resolve) => {
        const child = execFile(process.execPath, [ACPX, ...agent, ...args], options, (_, stdout, stderr) =>
          resolve({ code: child.exitCode, stdout, stderr }),
        );
        child.stdin?.end();
      }),
    async [Symbol.asyncDispose]() {
      // It keeps a process for the session, which ends the agent with itself.
      await eventually(async () => (await processesOf(home.home)).length === 0, 30_000);
      await home[Symbol.asyncDispose]();
    },
  };
}

async function processesOf(home: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(
    pids.map(async (pid) => ({ pid, text: await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "") })),
  );
  return environments.filter(({ text }) => text.split("\0").includes(`HOME=${home}`)).map(({ pid }) => pid);
}

test("acpx allows: the command runs, and the answer comes", async () => {
  await using model = await fakeModel(inOrder(...MAKE));
  await using acpx = await acpxWith(model);
  const run = await acpx.run("--approve-all", "exec", "make it");
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining("touch made.txt (completed)") });
  expect(run.stdout).toContain("All done.");
  expect(run.stdout).toContain("[done] end_turn");
  expect(await readFile(join(acpx.home.repo, "made.txt"), "utf8")).toBe("");
});

test("acpx denies: nothing runs, the model hears it", async () => {
  await using model = await fakeModel(inOrder(...MAKE));
  await using acpx = await acpxWith(model);
  const run = await acpx.run("--deny-all", "exec", "make it");
  expect(run.stdout).toContain("User denied this operation");
  expect(run.stdout).toContain("[done] end_turn");
  expect(await readdir(acpx.home.repo)).not.toContain("made.txt");
});

test("acpx goes on with a session in a new process: it is loaded, and the model gets what was said", async () => {
  await using model = await fakeModel(({ steps }) => ({ text: `Answer ${steps.filter(({ type }) => type === "words").length}.` }));
  await using acpx = await acpxWith(model);
  expect((await acpx.run("sessions", "new")).code).toBe(0);
  expect((await acpx.run("prompt", "first")).stdout).toContain("Answer 1.");
  await eventually(async () => (await processesOf(acpx.home.home)).length === 0, 30_000);
  const again = await acpx.run("prompt", "second");
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("session/load") });
  expect(again.stdout).toContain("Answer 3.");
  expect((await acpx.run("sessions", "close")).code).toBe(0);
});

test("acpx cancels a turn whose command runs, and sets a mode", async () => {
  const isWait = ({ steps }: Conversation) => JSON.stringify(steps.at(-1)).includes("wait");
  await using model = await fakeModel((conversation) =>
    isWait(conversation) ? { calls: [{ name: "Bash", input: { command: "touch began.txt; sleep 50" } }] } : { text: "Heard." },
  );
  await using acpx = await acpxWith(model);
  await acpx.run("sessions", "new");
  const turn = acpx.run("--approve-all", "prompt", "wait");
  await eventually(async () => (await readdir(acpx.home.repo)).includes("began.txt"));
  expect(await acpx.run("set-mode", "plan")).toMatchObject({ code: 0 });
  expect(await acpx.run("cancel")).toMatchObject({ code: 0, stdout: expect.stringContaining("cancel requested") });
  expect((await turn).stdout).toContain("[done] cancelled");
  expect((await acpx.run("sessions", "close")).code).toBe(0);
});
