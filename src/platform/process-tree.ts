import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** More than these are no program that wants to tidy up: they get no grace. */
const CROWD = 200;
/** What the kernel can't end (a process in a dead file system) is not waited for longer than this. */
const GIVE_UP_MS = 5_000;

const SANDBOX = "bwrap";

type Entry = { pid: number; name: string; parent: number; group: number; state: string; startedAt: string };

/**
 * TERM, a grace time, KILL, for a process, its group, all its descendants and all that carries `mark` (`NAME=value`, whole)
 * in its environment: that finds those that left group and parent. Resolves when none is left; gives the pids that would not end.
 */
export async function stopTree(pid: number | undefined, graceMs = 2000, mark?: string): Promise<number[]> {
  const tree = new ProcessTree(pid, mark);
  const asked = new Set<string>();
  const killAt = performance.now() + graceMs;
  // Before anything is looked at: among thousands that run, looking would take longer than they need to become more.
  if (graceMs === 0) freezeGroup(pid);
  let living = tree.living();
  for (let wait = 5; living.length > 0 && living.length <= CROWD && performance.now() < killAt; wait = Math.min(100, wait * 2)) {
    for (const one of living) {
      if (asked.has(keyOf(one))) continue;
      asked.add(keyOf(one));
      // Its end would be the end of all inside at once; it goes when they have gone.
      if (one.name === SANDBOX) continue;
      signal(one.pid, "SIGTERM");
      // What is stopped hears TERM only when it goes on.
      if (one.state === "T") signal(one.pid, "SIGCONT");
    }
    await sleep(wait);
    living = tree.living();
  }
  return living.length === 0 ? [] : kill(tree);
}

/** Frozen before they are killed: what can't run can't fork, so even a fork bomb loses. */
async function kill(tree: ProcessTree): Promise<number[]> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  freezeGroup(tree.pid);
  for (let wait = 2; ; wait = Math.min(50, wait * 2)) {
    const frozen = new Set<string>();
    for (let living = tree.living(); ; living = tree.living()) {
      const fresh = living.filter((one) => !frozen.has(keyOf(one)));
      if (fresh.length === 0) break;
      freezeGroup(tree.pid);
      for (const one of fresh) {
        frozen.add(keyOf(one));
        signal(one.pid, "SIGSTOP");
      }
    }
    for (const one of tree.living()) signal(one.pid, "SIGKILL");
    if (tree.pid !== undefined && tree.ownsGroup) signal(-tree.pid, "SIGKILL");
    await sleep(wait);
    const left = tree.living();
    if (left.length === 0) return [];
    if (performance.now() > giveUpAt) return left.map((one) => one.pid);
  }
}

/** One call of the system, and all of the group stand still; what forks at that moment too. */
export function freezeGroup(pid: number | undefined): void {
  if (pid !== undefined) signal(-pid, "SIGSTOP");
}

export function thawGroup(pid: number): void {
  signal(-pid, "SIGCONT");
}

/** Pids of processes that were started with this variable. None where the system does not tell. */
export function processesWithEnvironment(name: string, value: string): number[] {
  return new ProcessTree(undefined, `${name}=${value}`).living().map((one) => one.pid);
}

/** The command line of a process, for people; empty when it is gone. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

/** A process and what belongs to it. The set only grows: who was seen once stays known when its parent is gone. */
export class ProcessTree {
  readonly pid: number | undefined;
  /** Members of the group are there, or were at the last look: a number that is free may be given to others. */
  ownsGroup = false;
  readonly #mark: string | undefined;
  readonly #known = new Set<string>();
  /** Looked at before and without the mark: a process does not get it later. */
  readonly #others = new Set<string>();

  constructor(pid: number | undefined, mark?: string) {
    this.pid = pid;
    this.#mark = mark;
  }

  /** Zombies do not count. */
  living(): Entry[] {
    if (process.platform !== "linux") return this.#livingByGroup();
    const all = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? readEntry(name) : []));
    const members = new Set<number>(this.pid === undefined ? [] : [this.pid]);
    for (const one of all) if (this.#known.has(keyOf(one)) || one.group === this.pid || this.#isMarked(one)) members.add(one.pid);
    for (let size = -1; size !== members.size; ) {
      size = members.size;
      for (const one of all) if (members.has(one.parent)) members.add(one.pid);
    }
    const living = all.filter((one) => members.has(one.pid) && one.pid !== process.pid);
    for (const one of living) this.#known.add(keyOf(one));
    this.ownsGroup = living.some((one) => one.group === this.pid);
    return living;
  }

  #isMarked(one: Entry): boolean {
    if (this.#mark === undefined || this.#others.has(keyOf(one))) return false;
    try {
      const environment = readFileSync(`/proc/${one.pid}/environ`, "latin1");
      if (environment.split("\0").includes(this.#mark)) return true;
    } catch {
      // Ended meanwhile, or someone else's.
    }
    this.#others.add(keyOf(one));
    return false;
  }

  /** Without /proc the group has to do. */
  #livingByGroup(): Entry[] {
    this.ownsGroup = this.pid !== undefined && signal(-this.pid, 0);
    return this.ownsGroup && this.pid !== undefined
      ? [{ pid: -this.pid, name: "", parent: 0, group: this.pid, state: "", startedAt: "" }]
      : [];
  }
}

function keyOf({ pid, startedAt }: Entry): string {
  return `${pid}@${startedAt}`;
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // It ended by itself.
    return false;
  }
}

function readEntry(pid: string): Entry[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in field 2 may hold blanks and parentheses; what counts begins after the last one.
    const [state = "", parent, group, ...more] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 20);
    if (state === "Z" || state === "X") return [];
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    return [{ pid: Number(pid), name, parent: Number(parent), group: Number(group), state, startedAt: more[16] ?? "" }];
  } catch {
    // It ended while we read.
    return [];
  }
}
