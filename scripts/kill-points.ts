// kill -9 at random moments of a run of the built program, each session gone on with afterwards: every body that follows must be
// one that an API takes, and the session's file must be whole again.
// Run by hand: npx tsx scripts/kill-points.ts [points]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fakeModel, PROTOCOLS, type Protocol } from "../test/support/fake-model.ts";
import { childEnvironment, testHome } from "../test/support/home.ts";
import { assertSessionLegal } from "../test/support/proxy.ts";

const POINTS = Number(process.argv[2] ?? 200);
const ROUNDS = 12;
const BIN = decodeURIComponent(new URL("../bin/roocode.js", import.meta.url).pathname);

const outcome = { resumed: 0, nothingSaved: 0, whole: 0, openCalls: 0, failed: [] as string[] };
const longest = await runLength();
const points = Array.from({ length: POINTS }, (_, index) => index);
await Promise.all([worker(), worker()]);
console.log(
  `${POINTS} kills within ${Math.round(longest)} ms: ${outcome.resumed} gone on with (${outcome.openCalls} with open calls answered), ${outcome.nothingSaved} before anything was saved, ${outcome.whole} had ended by then, ${outcome.failed.length} failed`,
);
for (const failure of outcome.failed) console.log(failure);
process.exitCode = outcome.failed.length > 0 ? 1 : 0;

async function worker(): Promise<void> {
  for (let point = points.pop(); point !== undefined; point = points.pop()) {
    const protocol = PROTOCOLS[point % PROTOCOLS.length] ?? "anthropic";
    const afterMs = Math.random() * longest;
    await killOnce(protocol, afterMs).catch((error: unknown) => outcome.failed.push(`${protocol} after ${afterMs} ms: ${error}`));
  }
}

/** Reads, edits, commands, in turn; the numbers go by the conversation, so a run that goes on finds its place. */
function script() {
  return fakeModel(({ rounds, steps }) => {
    if (steps.some((step) => step.type === "words" && step.text === "go on")) return { text: "Went on." };
    if (rounds >= ROUNDS) return { text: "Done." };
    if (rounds % 3 === 0)
      return {
        calls: [
          { name: "ReadFile", input: { path: "src/limits.js" } },
          { name: "Glob", input: { pattern: "**/*" } },
        ],
      };
    if (rounds % 3 === 1)
      return { text: "Now a command.", calls: [{ name: "Bash", input: { command: `echo ${rounds} >> log.txt; sleep 0.02` } }] };
    return { calls: [{ name: "WriteFile", input: { path: `made-${rounds}.txt`, content: "text\n".repeat(200) } }] };
  });
}

async function runLength(): Promise<number> {
  await using model = await script();
  await using home = await testHome();
  const started = performance.now();
  await home.roocode(["-p", "work", "--permission-mode", "bypassPermissions"], { env: model.env("anthropic") });
  return performance.now() - started;
}

async function killOnce(protocol: Protocol, afterMs: number): Promise<void> {
  await using model = await script();
  await using home = await testHome();
  const env = { ...childEnvironment(home.home), ...model.env(protocol) };
  const child = spawn(process.execPath, [BIN, "-p", "work", "--permission-mode", "bypassPermissions"], {
    cwd: home.repo,
    env,
    stdio: "ignore",
    detached: true,
  });
  const ended = once(child, "exit");
  await Promise.race([sleep(afterMs), ended]);
  const hadEnded = child.exitCode !== null;
  child.kill("SIGKILL");
  await ended;
  const run = await home.roocode(["-p", "-c", "go on", "--permission-mode", "bypassPermissions"], { env: model.env(protocol) });
  if (run.code === 2 && run.stderr.includes("There is no earlier session")) {
    outcome.nothingSaved += 1;
    return;
  }
  if (run.code !== 0 || run.stdout !== "Went on.\n") throw new Error(`exit ${run.code}: ${run.stdout} ${run.stderr}`);
  model.proxy.assertLegal();
  if (model.proxy.refused.length > 0) throw new Error(model.proxy.refused.join("; "));
  const [session = ""] = await home.sessions();
  await assertSessionLegal(session);
  if (run.stderr.includes("whose end is unknown")) outcome.openCalls += 1;
  if (hadEnded) outcome.whole += 1;
  else outcome.resumed += 1;
}
