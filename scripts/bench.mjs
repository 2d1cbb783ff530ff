// Run by scripts/bench. All files go to one temporary folder, its HOME and tmux sockets included, which is removed at the end.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { benchClaims, benchMail } from "./bench-bus.mjs";
import { startModel } from "./bench-model.mjs";
import { benchTeam, benchWake } from "./bench-team.mjs";
import { benchTools } from "./bench-tools.mjs";

const quick = process.argv.includes("--quick");
const rounds = quick ? 5 : 15;
const roocode = fileURLToPath(new URL("../bin/roocode.js", import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), "roocode-bench-"));
const place = {
  home: join(temporary, "home"),
  repo: join(temporary, "repo"),
  tmux: join(temporary, "tmux"),
  out: join(temporary, "out.txt"),
};
for (const folder of [place.home, place.repo, place.tmux]) mkdirSync(folder);
const model = await startModel();
const rows = [];

const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1].split(",") : undefined;
const parts = {
  start: startUp,
  reads,
  fan,
  sandbox,
  team: teams,
  wake: async () => rows.push(...(await benchWake({ model, samples: quick ? 20 : 150, roocode, place, environment }))),
  mail: async () => rows.push(...(await benchMail({ temporary, quick }))),
  tasks: async () => rows.push(...(await benchClaims({ temporary, quick }))),
  decisions,
  // Last: the repository is large after it.
  tools: async () => rows.push(...(await benchTools({ runPrint, repo: place.repo, rounds: quick ? 3 : 8, median }))),
};
const unknown = only?.filter((name) => parts[name] === undefined) ?? [];
if (unknown.length > 0) throw new Error(`--only takes ${Object.keys(parts).join(", ")}; not ${unknown.join(", ")}`);

try {
  makeRepository();
  for (const [name, part] of Object.entries(parts)) if (only === undefined || only.includes(name)) await part();
  print();
} finally {
  model.close();
  rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
}

/** The idle minute of the largest team is what the target is about. */
async function teams() {
  for (const backend of hasProgram("tmux", "-V") ? ["process", "tmux"] : ["process"]) {
    for (const size of quick ? [1, 4] : [1, 4, 8]) {
      const idleMs = quick ? 3_000 : size === 8 ? 60_000 : 10_000;
      rows.push(...(await benchTeam({ model, backend, size, idleMs, roocode, place, environment })));
    }
  }
}

/** In one process, after a warm-up: each command of the test corpus under 2 kB, with forty rules. */
async function decisions() {
  const out = join(temporary, "decide.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("bench-decide.ts", import.meta.url))],
    outfile: out,
    ...{ bundle: true, platform: "node", format: "esm", logLevel: "error" },
  });
  const { p50, p99 } = JSON.parse(execFileSync(process.execPath, [out], { encoding: "utf8" }));
  rows.push(["a permission decision: p50, p99", `${p50.toFixed(2)} ms, ${p99.toFixed(2)} ms`, "p99 < 5 ms", p99 < 5]);
}

async function startUp() {
  const floor = { argv: ["-e", "0"] };
  const version = { argv: [roocode, "--version"] };
  const runs = [floor, version, ...["anthropic", "openai"].map((protocol) => ({ protocol, argv: [roocode, "-p", "hello"] }))];
  // A run that ends by itself keeps the compiled code for the next ones, as a person's first run does; those that are killed can't.
  for (const run of runs) {
    run.results = [];
    if (run.protocol) await runPrint(run.protocol, () => ({ text: "Done." }));
    await untilFirstRequest(run);
  }
  for (let round = 0; round < rounds; round += 1) for (const run of runs) run.results.push(await untilFirstRequest(run));
  const ratio = (run, what) => median(run.results.map((one, round) => one[what] / floor.results[round][what]));
  const [, , anthropic, openai] = runs;
  rows.push([
    "node -e 0: CPU, wall",
    `${Math.round(median(floor.results.map((one) => one.cpu)))} ms, ${Math.round(median(floor.results.map((one) => one.wall)))} ms`,
  ]);
  rows.push(["roocode --version: CPU", times(ratio(version, "cpu")), "<= 1.5 x", ratio(version, "cpu") <= 1.5]);
  for (const run of [anthropic, openai]) {
    rows.push([`-p to the first request, ${run.protocol}: CPU`, times(ratio(run, "cpu")), "<= 3 x (aim 2.5)", ratio(run, "cpu") <= 3]);
    rows.push([`-p to the first request, ${run.protocol}: wall`, times(ratio(run, "wall")), "<= 3 x (aim 2.5)", ratio(run, "wall") <= 3]);
  }
}

/** The process is ended as soon as the server has its body, so that bash counts the CPU up to there. */
async function untilFirstRequest({ argv, protocol }) {
  const file = join(temporary, "time.txt");
  const script = 'TIMEFORMAT="%3U %3S"; { time "$@" 2>&3; } 3>/dev/null 2>"$TIMES"';
  const started = performance.now();
  const child = spawn("bash", ["-c", script, "bash", process.execPath, ...argv], {
    cwd: place.repo,
    env: { ...environment(protocol), TIMES: file },
    stdio: "ignore",
  });
  let at;
  model.answer = (request) => {
    at = request.at;
    for (const pid of childrenOf(child.pid)) process.kill(pid, "SIGKILL");
    return undefined;
  };
  await new Promise((resolve) => child.once("exit", resolve));
  at ??= performance.now();
  const [user, system] = readFileSync(file, "utf8").trim().split("\n").at(-1).split(" ").map(Number);
  return { cpu: (user + system) * 1000, wall: at - started };
}

async function reads() {
  const turns = 50;
  const peak = { pss: 0, rss: 0 };
  for (const protocol of ["anthropic", "openai"]) {
    let turn = 0;
    const { requests } = await runPrint(protocol, (pid) => {
      turn += 1;
      if (turn % 10 === 0) {
        peak.pss = Math.max(peak.pss, memoryOf(pid).pss);
        peak.rss = Math.max(peak.rss, peakRssOf(pid));
      }
      return turn <= turns ? { calls: [{ name: "ReadFile", input: { path: `file${turn % 20}.js` } }] } : { text: "Done." };
    });
    const first = requests[0];
    const prefix = JSON.stringify([first.body.tools, first.body.system ?? first.body.messages[0]]).length;
    rows.push([
      `first body, ${protocol}: all, system + tools`,
      `${kilobytes(first.bytes)}, ${kilobytes(prefix)}`,
      "<= 16 KB",
      first.bytes <= 16 * 1024,
    ]);
    const good = requests.slice(1).filter((one, index) => continues(requests[index].body, one.body)).length;
    rows.push([
      `append-only, ${turns} reads, ${protocol}`,
      `${good} of ${requests.length - 1}`,
      "all",
      good === requests.length - 1 && good === turns,
    ]);
    const gaps = requests.slice(1).map((one, index) => one.at - requests[index].end);
    const tail = median(gaps.slice(-20));
    rows.push([
      `gap a read turn, ${protocol}: median, first 20, last 20`,
      `${ms(median(gaps))}, ${ms(median(gaps.slice(0, 20)))}, ${ms(tail)}`,
      "<= 5 ms, flat",
      median(gaps) <= 5 && tail <= 1.5 * median(gaps.slice(0, 20)),
    ]);
  }
  rows.push([
    `peak memory, ${turns} reads: PSS, RSS`,
    `${megabytes(peak.pss)}, ${megabytes(peak.rss)}`,
    "PSS <= 75 MB",
    peak.pss <= 75 * 1024,
  ]);
}

async function fan() {
  for (const mode of hasProgram("bwrap") ? ["off", "required"] : ["off"]) {
    const results = [];
    for (let round = 0; round < (quick ? 2 : 5); round += 1) {
      let turn = 0;
      const { requests } = await withSandbox(mode, () =>
        runPrint("anthropic", () => {
          turn += 1;
          return turn > 1
            ? { text: "Done." }
            : { calls: Array.from({ length: 8 }, (_, index) => ({ name: "Bash", input: { command: `sleep 0.5 # ${index}` } })) };
        }),
      );
      results.push(requests[1].at - requests[0].end);
    }
    const name = `8 parallel \`sleep 0.5\`, sandbox ${mode}`;
    rows.push([name, `${(median(results) / 1000).toFixed(2)} s`, "<= 0.70 s", median(results) <= 700]);
  }
}

async function withSandbox(mode, work) {
  const settings = join(place.home, ".roocode", "config.yaml");
  mkdirSync(join(place.home, ".roocode"), { recursive: true });
  writeFileSync(settings, `sandbox: ${mode}\n`);
  try {
    return await work();
  } finally {
    rmSync(settings);
  }
}

/** The same command with and without the OS sandbox, in turns: from the model's answer to the next request. */
async function sandbox() {
  const name = "sandbox: `true` in Bash, p50 plain, inside, more";
  if (!hasProgram("bwrap")) return rows.push([name, "no bwrap", "<= 30 ms more"]);
  const gaps = { off: [], required: [] };
  for (let round = 0; round < (quick ? 2 : 4); round += 1) {
    for (const mode of ["off", "required"]) {
      let turn = 0;
      const { requests } = await withSandbox(mode, () =>
        runPrint("anthropic", () => {
          turn += 1;
          return turn > 16 ? { text: "Done." } : { calls: [{ name: "Bash", input: { command: `true # ${turn}` } }] };
        }),
      );
      // The first command of an agent loads what it needs.
      gaps[mode].push(...requests.slice(2).map((one, index) => one.at - requests[index + 1].end));
    }
  }
  const [plain, inside] = [median(gaps.off), median(gaps.required)];
  rows.push([name, `${ms(plain)}, ${ms(inside)}, ${ms(inside - plain)}`, "<= 30 ms more", inside - plain <= 30]);
}

async function runPrint(protocol, answer) {
  const from = model.requests.length;
  const argv = [roocode, "-p", "Look at the files.", "--permission-mode", "bypassPermissions", "--max-turns", "200"];
  const child = spawn(process.execPath, argv, { cwd: place.repo, env: environment(protocol), stdio: ["ignore", "ignore", "inherit"] });
  model.answer = () => answer(child.pid);
  const code = await new Promise((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`roocode -p ended with ${code}`);
  return { requests: model.requests.slice(from) };
}

/** Cache marks move along; all else of the earlier body must stand at the head of the later one, byte for byte. */
function continues(before, after) {
  const plain = (value) => JSON.stringify(value, (key, inner) => (key === "cache_control" ? undefined : inner));
  if (plain([before.tools, before.system]) !== plain([after.tools, after.system])) return false;
  return plain(after.messages).startsWith(plain(before.messages).slice(0, -1)) && after.messages.length > before.messages.length;
}

function makeRepository() {
  for (let index = 0; index < 20; index += 1)
    writeFileSync(join(place.repo, `file${index}.js`), `export const value${index} = ${index};\n`);
  const git = (...args) =>
    execFileSync("git", ["-c", "user.name=bench", "-c", "user.email=bench@localhost", ...args], { cwd: place.repo, stdio: "ignore" });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "start");
}

function environment(protocol = "anthropic") {
  const { PATH } = process.env;
  return {
    PATH,
    HOME: place.home,
    TMPDIR: temporary,
    TMUX_TMPDIR: place.tmux,
    LANG: "C.UTF-8",
    SHELL: "/bin/bash",
    TERM: "xterm-256color",
    ...model.env(protocol),
  };
}

function hasProgram(name, flag = "--version") {
  try {
    execFileSync(name, [flag], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

function memoryOf(pid) {
  return { pss: Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))[1]) };
}

function peakRssOf(pid) {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

function print() {
  const table = [
    ["figure", "here", "target", "met"],
    ...rows.map(([name, value, target = "", met]) => [name, value, target, met === undefined ? "" : met ? "yes" : "NO"]),
  ];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  process.stdout.write(
    `node ${process.versions.node}, ${availableParallelism()} cores, load ${loadavg()[0].toFixed(1)}, ${rounds} rounds\n`,
  );
  for (const row of table)
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd()}\n`,
    );
}

function times(value) {
  return `${value.toFixed(2)} x`;
}
function ms(value) {
  return `${value.toFixed(1)} ms`;
}
function kilobytes(bytes) {
  return `${(bytes / 1024).toFixed(1)} KB`;
}
function megabytes(kilo) {
  return `${(kilo / 1024).toFixed(0)} MB`;
}
