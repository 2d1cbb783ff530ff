import { watch } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { runCommand } from "../../platform/process.ts";
import { makeTempFolder } from "../../platform/temp-folder.ts";
import { findRipgrep, runRipgrep } from "../../tools/search/ripgrep.ts";
import type { Surroundings } from "../surroundings.ts";
import { backendFacts } from "../team-backend.ts";
import { type Check, fail, off, ok, warn } from "./check.ts";

const PROGRAM_MS = 5_000;
const LEAST_NODE = [20, 19] as const;
/** merge-tree --write-tree, by which a team looks at a merge before it makes it. */
const LEAST_GIT = [2, 38] as const;
const LEAST_TMUX = [3, 0] as const;

/** The programs and the system below RooCode. */
export function machineChecks(surroundings: Surroundings): Promise<Check[]> {
  return Promise.all([
    node(),
    git(),
    tmux(),
    it2(surroundings),
    sandbox(surroundings),
    ripgrep(surroundings),
    terminal(surroundings),
    fileEvents(),
  ]);
}

function node(): Check {
  const { node: version } = process.versions;
  if (isAtLeast(version, LEAST_NODE)) return ok("node", `${version}.`);
  return fail("node", `Node ${version} is too old.`, "Install Node 20.19 or newer.");
}

async function git(): Promise<Check> {
  const version = await versionOf("git", ["--version"]);
  if (version === undefined) return fail("git", "There is no git on PATH.", "Install git 2.38 or newer: teams and checkpoints need it.");
  if (isAtLeast(version, LEAST_GIT)) return ok("git", `${version}.`);
  return warn("git", `git ${version} has no merge preview.`, "Install git 2.38 or newer for teams.");
}

async function tmux(): Promise<Check> {
  const version = await versionOf("tmux", ["-V"]);
  const mend = "Install tmux 3.0 or newer to see each teammate in a pane; without it they run inside of the lead or as processes.";
  if (version === undefined) return warn("tmux", "There is no tmux on PATH.", mend);
  return isAtLeast(version, LEAST_TMUX) ? ok("tmux", `${version}.`) : warn("tmux", `tmux ${version} is old.`, mend);
}

async function it2(surroundings: Surroundings): Promise<Check> {
  const { hasIt2, insideITerm } = await backendFacts(surroundings);
  if (!insideITerm) return off("it2", "Not in iTerm2.");
  const mend = "Install it (pip install it2) for teammates in panes of iTerm2.";
  return hasIt2 ? ok("it2", "it2 is there; teammates get panes of iTerm2.") : warn("it2", "There is no it2 on PATH.", mend);
}

async function sandbox({ settings }: Surroundings): Promise<Check> {
  const { mode = "auto", network = "off" } = settings.sandbox ?? {};
  const { probeSandbox } = await import("../../safety/os-sandbox/detect.ts");
  const probe = await probeSandbox(mode === "required");
  if (mode === "off") return off("sandbox", `Switched off by the settings (${probe.works ? "it would work" : probe.reason}).`);
  if (probe.works)
    return ok(
      "sandbox",
      `It works: commands run inside, network ${typeof network === "string" ? network : `only to ${network.join(", ")}`}.`,
    );
  const text = `Commands run without an OS sandbox: ${probe.reason}.`;
  return mode === "required"
    ? fail("sandbox", `The settings require one: ${probe.reason}.`, probe.mend)
    : warn("sandbox", text, probe.mend);
}

async function ripgrep({ env }: Surroundings): Promise<Check> {
  const mend = "Grep and Glob use a slow search. Install ripgrep (rg), or install RooCode with its optional packages.";
  if (env.ROOCODE_RIPGREP === "off") return warn("ripgrep", "ripgrep is switched off.", "Unset ROOCODE_RIPGREP.");
  const file = await findRipgrep(env);
  const lines: string[] = [];
  const version = { args: ["--version"], cwd: "/", timeoutMs: PROGRAM_MS, onPart: (line: string) => void lines.push(line) };
  const run = file && (await runRipgrep({ file, ...version }).catch(() => undefined));
  return run ? ok("ripgrep", `${lines[0]}.`) : warn("ripgrep", "There is no ripgrep that runs.", mend);
}

function terminal({ env }: Surroundings): Check {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) return ok("terminal", "No terminal here: print mode and pipes only.");
  const size = `${stdout.columns}x${stdout.rows}`;
  if (!env.TERM || env.TERM === "dumb")
    return warn("terminal", `TERM is ${env.TERM || "not set"}.`, "Set TERM to what your terminal is, for example xterm-256color.");
  if (/utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || "")) return ok("terminal", `${env.TERM}, ${size}, UTF-8.`);
  return warn("terminal", `${env.TERM}, ${size}, but the locale is not UTF-8.`, "Set LANG to a UTF-8 locale, for example C.UTF-8.");
}

/** Mail wakes a teammate by a file event; without any it is looked for four times a second. */
async function fileEvents(): Promise<Check> {
  const folder = makeTempFolder("doctor");
  try {
    watch(folder, { persistent: false }).close();
    const limit = process.platform === "linux" ? await inotifyLimit() : undefined;
    return ok("file events", limit === undefined ? "They work." : `They work; at most ${limit} watches.`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return warn(
      "file events",
      `They do not work (${reason}): mail is looked for 4 times a second.`,
      "Raise fs.inotify.max_user_instances and max_user_watches (sysctl).",
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function inotifyLimit(): Promise<string | undefined> {
  const text = await readFile("/proc/sys/fs/inotify/max_user_watches", "utf8").catch(() => undefined);
  return text?.trim();
}

/** Undefined when the program is missing. */
async function versionOf(program: string, args: readonly string[]): Promise<string | undefined> {
  const result = await runCommand(program, args, { timeoutMs: PROGRAM_MS });
  return result.exitCode === 0 ? (/\d+\.\d+[\w.]*/.exec(result.stdout)?.[0] ?? "0.0") : undefined;
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [a = 0, b = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  return a > major || (a === major && b >= minor);
}
