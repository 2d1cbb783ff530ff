// Mail and tasks of scripts/bench: sixteen members as processes of their own on one team folder, killed at random and started again.
import { fork } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const MEMBERS = 16;
const LIMIT_MS = 280_000;
const names = Array.from({ length: MEMBERS }, (_, index) => `m${index + 1}`);

/** Each writes to one reader, who is killed as well. */
export async function benchMail({ temporary, quick }) {
  const each = quick ? 50 : 200;
  const crew = await openCrew(temporary, quick ? 10 : 40);
  const sent = () => new Map(names.map((name) => [name, crew.lines(name, "sent ").length]));
  const reader = crew.member("lead", "read", () => []);
  const writers = names.map((name) => crew.member(name, "send", () => [sent().get(name) + 1, each]));
  const started = performance.now();
  await crew.killsAmong(() => [...writers.filter((one) => !one.isOver), ...Array(5).fill(reader)]);
  await crew.until(() => writers.every((one) => one.isOver));
  const ids = names.flatMap((name) => crew.lines(name, "sent ").map((line) => line.split(" ")[2]));
  const inContext = () => crew.lines("lead", "context ").flatMap((line) => line.split(" ").slice(1));
  await crew.until(() => new Set(inContext()).size >= new Set(ids).size && ids.every((id) => inContext().includes(id)));
  // What was in its box and in its context at once would come again now.
  await reader.kill();
  await crew.until(() => crew.unread("lead") === 0);
  const seconds = (performance.now() - started) / 1000;
  await reader.end();
  const context = inContext();
  const [lost, doubled] = [ids.filter((id) => !context.includes(id)).length, context.length - new Set(context).size];
  const refused = [...names, "lead"].flatMap((name) => crew.lines(name, "refused ")).length;
  return [
    [
      `mail: ${MEMBERS} writers x ${each}, ${crew.kills} kills: lost, doubled in context, refused`,
      `${lost}, ${doubled}, ${refused} (${seconds.toFixed(0)} s)`,
      "0, 0, 0",
      lost + doubled + refused === 0 && ids.length === MEMBERS * each,
    ],
  ];
}

export async function benchClaims({ temporary, quick }) {
  const count = quick ? 100 : 500;
  const crew = await openCrew(temporary, quick ? 10 : 40, count);
  const started = performance.now();
  const claimers = names.map((name) => crew.member(name, "claim", () => []));
  await crew.killsAmong(() => claimers.filter((one) => !one.isOver));
  await crew.until(() => claimers.every((one) => one.isOver));
  const seconds = (performance.now() - started) / 1000;
  const histories = readdirSync(join(crew.teamFolder, "tasks"))
    .filter((id) => /^\d+$/.test(id))
    .map((id) => ({ id, revisions: crew.revisions(id) }));
  const claimed = names.flatMap((name) => crew.lines(name, "claimed ")).map((line) => line.split(" "));
  // A claim that was confirmed but is in no revision, or that was taken from a member who lived.
  const unfounded = claimed.filter(([, id, pid]) => {
    const { revisions } = histories.find((one) => one.id === id);
    return revisions.filter(({ status, claim }) => status === "in_progress" && claim.pid === Number(pid)).length !== 1;
  });
  const taken = histories.flatMap(({ revisions }) =>
    revisions.filter(({ claim, status }, index) => {
      const next = revisions[index + 1];
      return status === "in_progress" && next !== undefined && next.status !== "completed" && !crew.killed.has(claim.pid);
    }),
  );
  const completions = histories.map(({ revisions }) => revisions.filter(({ status }) => status === "completed").length);
  const confirmed = names.flatMap((name) => crew.lines(name, "completed ")).map((line) => line.split(" ")[1]);
  const doubled = completions.filter((one) => one > 1).length + confirmed.length - new Set(confirmed).size;
  const open = completions.filter((one) => one === 0).length;
  return [
    [
      `tasks: ${MEMBERS} claimers x ${count}, ${crew.kills} kills: double claims, double completions, open`,
      `${unfounded.length + taken.length}, ${doubled}, ${open} (${seconds.toFixed(0)} s)`,
      "0, 0, 0",
      unfounded.length + taken.length + doubled + open === 0 && histories.length === count,
    ],
  ];
}

/** A team folder, and members that are started again whenever they are killed, with the next epoch. */
async function openCrew(temporary, wantedKills, tasks = 0) {
  const folder = mkdtempSync(join(temporary, "bus-"));
  const program = join(folder, "member.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("bench-member.ts", import.meta.url))],
    outfile: program,
    ...{ bundle: true, platform: "node", format: "esm", target: "node20", logLevel: "error" },
  });
  const teamFolder = join(folder, "team");
  const until = performance.now() + LIMIT_MS;
  const log = (name) => join(folder, `${name}.log`);
  for (const name of ["lead", ...names]) writeFileSync(log(name), "");
  const crew = { teamFolder, kills: 0, killed: new Set(), lines, member, killsAmong, until: untilTrue, unread, revisions };
  await over(fork(program, ["make", teamFolder, ...names, String(tasks)]));
  return crew;

  function lines(name, start) {
    return readFileSync(log(name), "utf8")
      .split("\n")
      .filter((line) => line.startsWith(start));
  }

  function member(name, action, more) {
    const state = { name, isOver: false, kill, end };
    let [child, epoch, isWanted] = [undefined, 0, true];
    start();
    return state;
    function start() {
      epoch += 1;
      child = fork(program, [action, teamFolder, name, String(epoch), log(name), ...more().map(String)]);
      const one = child;
      one.once("exit", (code, signal) => {
        if (signal === "SIGKILL" && isWanted) return start();
        if (code !== 0 && isWanted) console.error(`${action} ${name} ended with ${code ?? signal}`);
        state.isOver = true;
      });
    }
    async function kill() {
      const one = child;
      if (one.exitCode !== null || one.signalCode !== null) return;
      crew.killed.add(one.pid);
      crew.kills += 1;
      one.kill("SIGKILL");
      await over(one);
    }
    async function end() {
      isWanted = false;
      child.kill("SIGTERM");
      await over(child);
    }
  }

  async function killsAmong(candidates) {
    while (crew.kills < wantedKills) {
      await sleep(20 + Math.random() * 150);
      const those = candidates();
      if (those.every((one) => one.name === "lead")) return;
      await those[Math.floor(Math.random() * those.length)].kill();
    }
  }

  async function untilTrue(holds) {
    while (!holds()) {
      if (performance.now() > until) throw new Error("the members do not come to an end");
      await sleep(50);
    }
  }

  function unread(name) {
    return readdirSync(join(teamFolder, "inboxes", name, "new")).length;
  }

  function revisions(id) {
    const at = join(teamFolder, "tasks", id);
    const files = readdirSync(at).filter((name) => /^\d+\.json$/.test(name));
    return files.sort((a, b) => parseInt(a, 10) - parseInt(b, 10)).map((name) => JSON.parse(readFileSync(join(at, name), "utf8")));
  }
}

function over(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", resolve));
}
