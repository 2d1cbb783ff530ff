// One team of scripts/bench: all start, stand idle, are woken by a message, get another while they are busy, end.
import { execFileSync, spawn } from "node:child_process";
import { openSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const LIMIT_MS = 180_000;

export async function benchTeam({ model, backend, size, idleMs, roocode, place, environment }) {
  const names = Array.from({ length: size }, (_, index) => `mate${index + 1}`);
  const first = new Map();
  const woken = new Map();
  const heard = new Map();
  const state = { step: "spawn", ready: gate(), idle: gate(), busy: gate(), sent: gate() };
  let leadTurns = 0;
  let pinged;
  const seen = { awake: 0, last: 0 };

  model.answer = async (request) => {
    const who = /BENCH-MATE-(mate\d+)/.exec(request.text)?.[1];
    return request.text.includes("BENCH-LEAD") ? lead(request) : mate(who, request);
  };
  async function lead(request) {
    leadTurns += 1;
    if (leadTurns === 1)
      return {
        calls: names.map((name) => ({
          name: "Agent",
          input: { name, description: "reads in a bench", prompt: `BENCH-MATE-${name}: read, then stop.` },
        })),
      };
    if (leadTurns === 2) {
      await state.idle.opened;
      pinged = request;
      return { calls: names.map((name) => send(name, "BENCH-WAKE")) };
    }
    if (leadTurns === 3) {
      await state.busy.opened;
      return { calls: names.map((name) => send(name, "BENCH-BUSY")) };
    }
    state.sent.open();
    return { text: "The bench is over." };
  }
  async function mate(name, request) {
    if (!first.has(name)) {
      first.set(name, request.at);
      if (first.size === size) state.ready.open();
      return { text: "I wait." };
    }
    if (!woken.has(name)) {
      woken.set(name, { at: request.at, has: request.text.includes("BENCH-WAKE") });
      // Held here, all are busy while the lead writes; what they ask next must have it.
      seen.awake += 1;
      if (seen.awake === size) state.busy.open();
      await state.sent.opened;
      return { calls: [{ name: "ReadFile", input: { path: "file1.js" } }] };
    }
    if (!heard.has(name)) heard.set(name, request.text.includes("BENCH-BUSY"));
    return { text: "Done." };
  }

  const started = performance.now();
  const out = openSync(place.out, "w");
  const argv = [
    roocode,
    "team",
    "BENCH-LEAD",
    "-p",
    "--name",
    `bench-${backend}-${size}`,
    "--backend",
    backend,
    "--teammates",
    String(size),
  ];
  const child = spawn(process.execPath, argv, { cwd: place.repo, env: environment(), stdio: ["ignore", out, out] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const alive = await Promise.race([state.ready.opened.then(() => true), ended.then(() => false)]);
  if (!alive) throw new Error(`the team ended too early: ${readFileSync(place.out, "utf8")}`);
  await sleep(1_500);
  const members = processesWith("--boot", place.home);
  const pss = members.map(pssOf).sort((a, b) => a - b);
  const everyone = [child.pid, ...members];
  const before = cpuOf(everyone);
  await sleep(idleMs);
  const idleCpu = (100 * (cpuOf(everyone) - before)) / idleMs;
  state.idle.open();
  const code = await ended;
  clearTimeout(timer);

  const toAll = Math.max(...first.values()) - started;
  const latencies = [...woken.values()].map((one) => one.at - pinged.end).sort((a, b) => a - b);
  const p50 = latencies[latencies.length >> 1];
  const inNext = [...heard.values()].filter(Boolean).length;
  const wokenBy = [...woken.values()].filter((one) => one.has).length;
  const left = leftBehind(place);
  const title = `team of ${size}, ${backend}`;
  const limit = { 1: 2_000, 4: 3_000, 8: 4_000 }[size];
  return [
    [
      `${title}: started, exit code, left behind`,
      `${first.size} of ${size}, ${code}, ${left}`,
      "all, 0, nothing",
      first.size === size && code === 0 && left === "nothing",
    ],
    [`${title}: command to all first requests`, `${(toAll / 1000).toFixed(2)} s`, `<= ${limit / 1000} s`, toAll <= limit],
    [`${title}: PSS a member, median`, `${(pss[pss.length >> 1] / 1024).toFixed(0)} MB`, "<= 50 MB", pss[pss.length >> 1] <= 50 * 1024],
    [`${title}: CPU of the idle team`, `${idleCpu.toFixed(1)} % of a core`, "<= 1 %", idleCpu <= 1],
    [
      `${title}: message to an idle member, p50, max`,
      `${p50.toFixed(0)}, ${latencies.at(-1).toFixed(0)} ms (${wokenBy} of ${size})`,
      "p50 < 100 ms",
      p50 < 100 && wokenBy === size,
    ],
    [`${title}: message to a busy one in its next request`, `${inNext} of ${size}`, "all", inNext === size],
  ];
}

/** One message after the other to a member that is idle each time: from the lead's answer to the member's next request. */
export async function benchWake({ model, samples, roocode, place, environment }) {
  const latencies = [];
  let [wanted, sentBy, isIdle, leadTurns] = [0, undefined, gate(), 0];
  model.answer = async (request) => {
    if (!request.text.includes("BENCH-LEAD")) {
      if (sentBy !== undefined && request.text.includes(`BENCH-WAKE-${wanted};`)) {
        latencies.push(request.at - sentBy.end);
        sentBy = undefined;
      }
      isIdle.open();
      return { text: "I wait." };
    }
    leadTurns += 1;
    if (leadTurns === 1)
      return { calls: [{ name: "Agent", input: { name: "mate1", description: "waits", prompt: "BENCH-MATE-mate1: wait." } }] };
    await isIdle.opened;
    if (wanted === samples) return { text: "The bench is over." };
    // It says that it is idle, and stands still.
    await sleep(150);
    isIdle = gate();
    wanted += 1;
    sentBy = request;
    return { calls: [send("mate1", `BENCH-WAKE-${wanted};`)] };
  };
  const argv = [roocode, "team", "BENCH-LEAD", "-p", "--name", "bench-wake", "--backend", "process", "--teammates", "1"];
  const child = spawn(process.execPath, argv, {
    cwd: place.repo,
    env: environment(),
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  latencies.sort((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((share) => latencies[Math.floor(latencies.length * share)]);
  return [
    [
      `message to an idle member, ${latencies.length} of them: p50, p99`,
      `${p50?.toFixed(0)}, ${p99?.toFixed(0)} ms`,
      "p50 < 100, p99 < 500 ms",
      latencies.length === samples && code === 0 && p50 < 100 && p99 < 500,
    ],
  ];
}

function send(to, text) {
  return { name: "SendMessage", input: { to, summary: "a bench message", message: text } };
}

function gate() {
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

function processesWith(...words) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const line = read(`/proc/${pid}/cmdline`);
      return line.startsWith(process.execPath) && words.every((word) => line.includes(word));
    });
}

function pssOf(pid) {
  return Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
}

/** Milliseconds on a core of all threads so far. */
function cpuOf(pids) {
  const threads = pids.flatMap((pid) => readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/schedstat`));
  return threads.reduce((sum, path) => sum + Number(read(path).split(" ")[0] || 0) / 1e6, 0);
}

function leftBehind({ home, repo }) {
  const git = (...args) => execFileSync("git", args, { cwd: repo, encoding: "utf8" }).trim().split("\n");
  const found = [
    ...processesWith(home).map((pid) => `process ${pid}`),
    ...git("worktree", "list").slice(1),
    ...git("branch", "--list").filter((line) => !line.includes("main")),
  ];
  return found.length > 0 ? found.join("; ") : "nothing";
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process is gone.
    return "";
  }
}
