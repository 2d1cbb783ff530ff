// Run by scripts/bench speedup: what a team is worth where the model's answers are what takes the time. The same eight tasks of three turns
// each, once by `roocode -p` and once by each team; the scripted model takes its time for every answer.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Conversation, Role } from "../src/interaction/demo/conversation.ts";
import { type PlanInput, readPlan } from "../src/interaction/demo/plan.ts";
import { scriptedTurn } from "../src/interaction/demo/scripted-model.ts";
import { gitText } from "../src/platform/git.ts";
import { fakeModel } from "../test/support/fake-model.ts";
import { testHome } from "../test/support/home.ts";
import { startTeam } from "../test/support/running-team.ts";

const isQuick = process.argv.includes("--quick");
const LATENCY_MS = isQuick ? 500 : 2_000;
const SIZES = isQuick ? [2, 4] : [2, 4, 8];
const TASKS = Array.from({ length: 8 }, (_, index) => ({
  file: `src/part${index + 1}.txt`,
  command: `grep -c changed src/part${index + 1}.txt`,
}));
const FILES = Object.fromEntries(TASKS.map(({ file }, index) => [file, `part ${index + 1}\n`]));
const MODE = ["--permission-mode", "bypassPermissions"];

type Turn = { role: Role["type"]; at: number; end: number };
type Run = { seconds: number; turns: Turn[]; input: number; uncached: number; files: number; gits: number; code: number | null };

const single = await alone();
const rows = [
  [
    "agents",
    "wall",
    "ratio",
    "ideal",
    "no answer under way",
    "turns: lead, members, integrator",
    "input tokens",
    "of them not sent before",
    "git starts",
    "done",
  ],
];
add("1 (-p)", single, 1);
for (const size of SIZES) add(`team of ${size}`, await team(size), size);
console.log(`${TASKS.length} tasks of 3 turns each, ${LATENCY_MS / 1000} s a turn; tokens are counted as 4 bytes of a request each\n`);
const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
for (const row of rows)
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );

function add(name: string, run: Run, ideal: number): void {
  const of = (role: Role["type"]) => run.turns.filter((turn) => turn.role === role).length;
  const times = (value: number, base: number) => `${Math.round(value / 1000)}k (${(value / base).toFixed(1)} x)`;
  rows.push([
    name,
    `${run.seconds.toFixed(1)} s`,
    `${(single.seconds / run.seconds).toFixed(2)} x`,
    `${ideal} x`,
    `${(run.seconds - answering(run.turns)).toFixed(1)} s`,
    run.turns.some(({ role }) => role === "main") ? `${of("main")}` : `${of("lead")}, ${of("worker")}, ${of("integrator")}`,
    times(run.input, single.input),
    times(run.uncached, single.uncached),
    `${run.gits}`,
    `${run.files} of ${TASKS.length}, exit ${run.code}`,
  ]);
  if (process.argv.includes("--turns"))
    for (const { role, at, end } of run.turns) console.log(`${name} ${role} ${(at / 1000).toFixed(2)} to ${(end / 1000).toFixed(2)}`);
}

/** Seconds in which the model was at at least one answer; all else is ours. */
function answering(turns: readonly Turn[]): number {
  let [sum, until] = [0, 0];
  for (const { at, end } of turns.toSorted((one, other) => one.at - other.at)) {
    sum += Math.max(0, end - Math.max(at, until));
    until = Math.max(until, end);
  }
  return sum / 1000;
}

/** One turn each reads, changes and checks; nothing is done twice and nothing in one turn that a team does in two. */
function alone(): Promise<Run> {
  const turns = TASKS.flatMap(({ file, command }) => [
    { name: "ReadFile", input: { path: file } },
    { name: "EditFile", input: { path: file, old_string: "part", new_string: "changed part" } },
    { name: "Bash", input: { command } },
  ]);
  const answer = ({ rounds }: Conversation): Answer => {
    const call = turns[rounds];
    return call ? { text: "Next.", calls: [call] } : { text: "All is done." };
  };
  return measured(answer, async (home, env) => (await home.roocode(["-p", "Do all parts.", ...MODE], { env, timeoutMs: 200_000 })).code);
}

/** Every member has its share of the tasks; the plan's lead makes the tasks, starts all at once, and merges when all is done. */
function team(size: number): Promise<Run> {
  const names = Array.from({ length: size }, (_, index) => `mate${index + 1}`);
  const input: PlanInput = {
    teammates: names.map((name) => ({ name, prompt: `You are ${name}: do the tasks with your name.` })),
    tasks: TASKS.map(({ file, command }, index) => ({
      key: `part${index + 1}`,
      subject: `Change part ${index + 1}`,
      teammate: names[index % size],
      edits: [{ file, old: "part", new: "changed part" }],
      commands: [command],
    })),
  };
  const plan = readPlan(input);
  return measured(
    (conversation) => scriptedTurn(plan, conversation),
    async (home, env) => {
      const args = ["Do all parts.", "-p", "--name", "speedup", "--backend", "process", "--teammates", String(size), ...MODE];
      await using run = startTeam(home, args, env);
      const { code } = await run.ended;
      if (code !== 0) console.error(run.output());
      return code;
    },
  );
}

async function measured(
  answer: (conversation: Conversation) => Answer,
  run: (home: Awaited<ReturnType<typeof testHome>>, env: Record<string, string>) => Promise<number | null>,
): Promise<Run> {
  const turns: Turn[] = [];
  const started = performance.now();
  await using model = await fakeModel(async (conversation) => {
    const turn = { role: conversation.role.type, at: performance.now() - started, end: 0 };
    turns.push(turn);
    await sleep(LATENCY_MS);
    turn.end = performance.now() - started;
    return answer(conversation);
  });
  await using home = await testHome(FILES);
  const counted = await countingGit(dirname(home.repo));
  const code = await run(home, { ...model.env("anthropic"), PATH: `${counted.folder}:${process.env.PATH}` });
  const seconds = (performance.now() - started) / 1000;
  const gits = counted.starts();
  const done = await gitText(home.repo, ["grep", "-l", "changed", "--", "src"]);
  const bodies = model.proxy.captures.map(({ body }) => asCached(body));
  return {
    seconds,
    turns,
    input: bodies.reduce((sum, body) => sum + body.length / 4, 0),
    uncached: bodies.reduce((sum, body, index) => sum + (body.length - longestShared(body, bodies.slice(0, index))) / 4, 0),
    files: done.split("\n").filter((line) => line !== "").length,
    gits,
    code,
  };
}

/** A folder for PATH, with a git that notes each of its starts. */
async function countingGit(at: string): Promise<{ folder: string; starts: () => number }> {
  const [folder, log] = [join(at, "counting"), join(at, "git-starts")];
  const real = join(await gitText(at, ["--exec-path"]), "git");
  mkdirSync(folder);
  writeFileSync(log, "");
  writeFileSync(join(folder, "git"), `#!/bin/sh\nprintf . >> '${log}'\nexec '${real}' "$@"\n`);
  chmodSync(join(folder, "git"), 0o755);
  return { folder, starts: () => readFileSync(log, "utf8").length };
}

/** In the order of the API's cache, without the marks, which move along. */
function asCached(body: string): string {
  const { tools, system, messages } = JSON.parse(body);
  return JSON.stringify([tools, system, messages], (key, value) => (key === "cache_control" ? undefined : value)).slice(0, -2);
}

/** How much of the body an earlier one began with, as a cache of prompts sees it. */
function longestShared(body: string, earlier: readonly string[]): number {
  let longest = 0;
  for (const one of earlier) {
    let at = 0;
    const most = Math.min(one.length, body.length);
    while (at < most && one.charCodeAt(at) === body.charCodeAt(at)) at += 1;
    longest = Math.max(longest, at);
  }
  return longest;
}
