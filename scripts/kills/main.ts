// Run by scripts/random-kills, which says how.
import { appendFileSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Result, runOnce } from "./run.ts";
import { MOMENTS, scenarioOf, VICTIMS, type Wishes } from "./scenario.ts";

const OUTCOMES = ["whole", "partial", "nothing begun", "FAILED"] as const;
const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
    runs: { type: "string", default: "20" },
    backend: { type: "string", default: "mixed" },
    jobs: { type: "string", default: "1" },
    victim: { type: "string" },
    moment: { type: "string" },
    minutes: { type: "string", default: "60" },
    out: { type: "string" },
    keep: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  const script = readFileSync(new URL("../random-kills", import.meta.url), "utf8").split("\n");
  console.log(script.flatMap((line) => (/^#\s/.test(line) ? [line.slice(2)] : [])).join("\n"));
  process.exit(0);
}
const backend = (["process", "tmux", "mixed"] as const).find((one) => one === values.backend);
if (backend === undefined) throw new Error("--backend is process, tmux or mixed.");
const wishes: Wishes = {
  backend,
  victim: VICTIMS.find((one) => one === values.victim),
  moment: MOMENTS.find((one) => one === values.moment),
};
const seed = Number(values.seed);
const until = Date.now() + Number(values.minutes) * 60_000;
const seeds = Array.from({ length: Number(values.runs) }, (_, index) => seed + index);
const done: (Result & { victim: string; moment: string; seed: number })[] = [];
await Promise.all(Array.from({ length: Number(values.jobs) }, worker));
print();
process.exitCode = done.some((one) => one.outcome === "FAILED") ? 1 : 0;

async function worker(): Promise<void> {
  for (let next = seeds.shift(); next !== undefined && Date.now() < until; next = seeds.shift()) {
    const scenario = scenarioOf(next, wishes);
    const { victim, moment } = scenario;
    const result = await runOnce(scenario, values.keep);
    done.push({ ...result, victim, moment, seed: next });
    const killed = result.killed === undefined ? "nothing was there to kill" : `killed ${result.killed.slice(0, 60)}`;
    const teammates = scenario.plan.teammates?.length;
    console.log(
      `seed ${next}: ${scenario.backend}, ${teammates} teammates, ${victim} ${moment}: ${killed}; exit ${result.codes.join(", then ")}; ${result.outcome}, ${result.seconds.toFixed(1)} s`,
    );
    for (const fault of result.faults) console.log(`  ${fault}`);
    if (result.folder) console.log(`  kept: ${result.folder}`);
    if (values.out) appendFileSync(values.out, `${JSON.stringify({ ...result, victim, moment, seed: next, backend: scenario.backend })}\n`);
  }
}

/** Runs in which nothing was there to kill stand apart: they prove nothing. */
function print(): void {
  const hit = done.filter((one) => one.killed !== undefined);
  for (const [title, groups, of] of [
    ["victim", VICTIMS, (one: (typeof done)[number]) => one.victim],
    ["moment", MOMENTS, (one: (typeof done)[number]) => one.moment],
  ] as const) {
    console.log(`\n${[title.padEnd(14), "runs", ...OUTCOMES].map((cell) => cell.padEnd(13)).join(" ")}`);
    for (const group of groups) {
      const rows = hit.filter((one) => of(one) === group);
      const counts = [rows.length, ...OUTCOMES.map((outcome) => rows.filter((one) => one.outcome === outcome).length)];
      if (rows.length > 0) console.log([group.padEnd(14), ...counts].map((cell) => String(cell).padEnd(13)).join(" "));
    }
  }
  const seconds = done.reduce((sum, one) => sum + one.seconds, 0);
  console.log(
    `\n${hit.length} kills, ${done.length - hit.length} runs without one, ${(seconds / Math.max(1, done.length)).toFixed(1)} s a run`,
  );
  const failed = done.filter((one) => one.outcome === "FAILED").map((one) => one.seed);
  if (failed.length > 0) console.log(`failing seeds: ${failed.join(", ")}`);
}
