// A long conversation through the built program, in one process: 500 model turns with several compactions, over both protocols.
// Prints what check-history says of all bodies and of the session, request bytes at turns 20 and 480, and the peak memory.
// Run by hand: npx tsx scripts/endurance.ts [turns]
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SUMMARY } from "../test/support/compacting.ts";
import { fakeModel, PROTOCOLS, type Protocol } from "../test/support/fake-model.ts";
import { childEnvironment, testHome } from "../test/support/home.ts";
import { assertSessionLegal } from "../test/support/proxy.ts";

const TURNS = Number(process.argv[2] ?? 500);
const WINDOW = 60_000;
const BIN = decodeURIComponent(new URL("../bin/roocode.js", import.meta.url).pathname);
const FILES = Object.fromEntries(
  Array.from({ length: 10 }, (_, index) => [`f${index}.txt`, `file ${index} says word after word\n`.repeat(65)]),
);

for (const protocol of PROTOCOLS) await endure(protocol);

async function endure(protocol: Protocol): Promise<void> {
  let turn = 0;
  await using model = await fakeModel(({ steps }) => {
    const last = steps.at(-1);
    if (last?.type === "words" && last.text.includes("will be replaced by your summary")) return { text: SUMMARY };
    turn += 1;
    if (turn >= TURNS) return { text: "Done." };
    return { text: `Turn ${turn}.`, calls: [{ name: "ReadFile", input: { path: `f${turn % 10}.txt`, offset: 1 + (turn % 7) } }] };
  });
  await using home = await testHome(FILES);
  await mkdir(home.data, { recursive: true });
  const env = model.env(protocol);
  const provider = {
    name: "small",
    protocol,
    baseUrl: env.ANTHROPIC_BASE_URL ?? env.OPENAI_BASE_URL,
    model: "tiny",
    contextWindow: WINDOW,
  };
  await writeFile(join(home.data, "config.yaml"), `model: small/tiny\nproviders: [${JSON.stringify(provider)}]\n`);
  const started = performance.now();
  const args = [BIN, "-p", "Read on and on.", "--max-turns", String(TURNS + 50), "--output-format", "events"];
  const child = spawn(process.execPath, args, {
    cwd: home.repo,
    env: { ...childEnvironment(home.home) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let peakKb = 0;
  const watch = setInterval(() => {
    readFile(`/proc/${child.pid}/status`, "utf8").then(
      (status) => {
        peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
      },
      () => undefined,
    );
  }, 100);
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) output += chunk;
  clearInterval(watch);
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  const events = output
    .trim()
    .split("\n")
    .map((line): { type: string; reason?: string } => JSON.parse(line));
  const compactions = events.filter(({ type }) => type === "compacted").length;
  const sizes = model.proxy.captures.map(({ body }) => body.length);
  let history = "no violation";
  try {
    model.proxy.assertLegal();
    const [session = ""] = await home.sessions();
    await assertSessionLegal(session);
  } catch (error) {
    history = error instanceof Error ? error.message.slice(0, 2_000) : String(error);
  }
  console.log(
    `${protocol}: ${turn} turns in ${seconds} s, ended ${events.at(-1)?.reason}; ${compactions} compactions; request bytes at turn 20: ${sizes[19]}, at 480: ${sizes[479 + compactions]}, largest ${Math.max(...sizes)}; peak RSS ${Math.round(peakKb / 1024)} MB; check-history: ${history}`,
  );
}
