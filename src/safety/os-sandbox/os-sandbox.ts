import { lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeTempFolder } from "../../platform/temp-folder.ts";
import { matchesStar } from "../patterns.ts";
import { bubblewrapArgs } from "./bubblewrap.ts";
import { type Probe, probeSandbox } from "./detect.ts";
import { gitLinks, removeNewGitLinks } from "./git-links.ts";
import { guardNames, type Touched } from "./guard.ts";
import type { NetworkWay } from "./network-way.ts";
import { planSandbox } from "./plan.ts";
import type { SandboxPlan, SandboxPolicy } from "./policy.ts";
import { realOrUndefined } from "./protect.ts";
import { seatbeltProfile } from "./seatbelt.ts";

export type SandboxRequest = Omit<SandboxPolicy, "temp" | "blank"> & {
  /** Patterns of command lines that run outside. */
  excluded: readonly string[];
  /** The person asked for a sandbox by name. */
  isRequired: boolean;
  /** With the network off: hosts that commands reach all the same. */
  hosts: readonly string[];
};
/** `end` once all of it is over; gives the names that it touched. `takeRefused`: hosts that it asked for and that are not allowed. */
export type Contained = { argv: readonly string[]; end(): Touched[]; takeRefused(): string[] };

/** Stands for a checkout that is gone, or was led elsewhere: nothing is there. */
const NOWHERE = "/dev/null/nowhere";
const NO_LIST_ON_MACOS = { reason: "a list of hosts needs Linux", mend: "Set sandbox.network to off or on." };

/** Contains the commands of one agent. Nothing is made and nothing is looked for before the first of them. */
export class OsSandbox implements Disposable {
  readonly #request: SandboxRequest;
  #probe: Promise<Probe> | undefined;
  #folder: string | undefined;
  #plan: SandboxPlan | undefined;
  #running = 0;
  readonly #transient = new Set<string>();
  readonly #places = new Map<string, string>();
  #isPinned = false;
  #way: NetworkWay | undefined;

  constructor(request: SandboxRequest) {
    this.#request = request;
  }

  /** Started once; a command costs no probe. */
  probe(): Promise<Probe> {
    this.#probe ??= this.#open();
    return this.#probe;
  }

  async #open(): Promise<Probe> {
    const { isRequired, hosts } = this.#request;
    const probe = await probeSandbox(isRequired);
    if (!probe.works || hosts.length === 0) return probe;
    if (process.platform === "darwin") return { works: false, ...NO_LIST_ON_MACOS };
    const { openNetworkWay } = await import("./network-way.ts");
    this.#folder ??= makeFolder();
    try {
      this.#way = await openNetworkWay(hosts, join(this.#folder, "tmp"));
      return probe;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return {
        works: false,
        reason: `the way to the hosts of sandbox.network can't be opened: ${why}`,
        mend: "Set TMPDIR to a short path.",
      };
    }
  }

  isExcluded(command: string): boolean {
    return this.#request.excluded.some((pattern) => matchesStar(pattern, command.trim()));
  }

  wrap(argv: readonly string[]): Contained {
    // While a command runs it could turn a folder into a link between the look and the mount: the plan stays what it was.
    if (this.#plan === undefined || this.#running === 0) this.#plan = this.#newPlan();
    // What has gone since can't be mounted.
    const mounts = this.#plan.mounts.filter(({ path }) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
    const plan = { ...this.#plan, mounts };
    this.#running += 1;
    const guard = guardNames(plan.guarded);
    const links = gitLinks(plan.gitFolders);
    let touched: Touched[] | undefined;
    return {
      argv: [...launcher(plan, this.#way?.variables), ...(this.#way?.withBridge(argv) ?? argv)],
      takeRefused: () => this.#way?.takeRefused() ?? [],
      end: () => {
        if (touched !== undefined) return touched;
        const removed = removeNewGitLinks(plan.gitFolders, links).map((path) => ({ path, isLeft: false }));
        touched = [...guard.end(), ...removed];
        this.#running -= 1;
        if (this.#running === 0) {
          this.#removeTransient();
          this.#way?.hangUp();
        }
        return touched;
      },
    };
  }

  [Symbol.dispose](): void {
    this.#way?.[Symbol.dispose]();
    this.#removeTransient();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #newPlan(): SandboxPlan {
    const { excluded: _, isRequired: __, hosts: ___, ...request } = this.#request;
    const policy = { ...request, readable: [...request.readable, ...(this.#way?.readable ?? [])] };
    this.#folder ??= makeFolder();
    const [root, ...writable] = [policy.root, ...policy.writable].map((path) => this.#placeOf(path));
    const home = this.#placeOf(policy.home) ?? policy.home;
    this.#isPinned = true;
    const places = { root: root ?? NOWHERE, writable: writable.filter((path) => path !== undefined), home };
    const plan = planSandbox({ ...policy, ...places, temp: join(this.#folder, "tmp"), blank: join(this.#folder, "blank") });
    for (const path of plan.transient) {
      mkdirSync(path, { recursive: true });
      this.#transient.add(path);
    }
    return plan;
  }

  /**
   * Where a folder of the settings led before the first command: a link that commands put in its place, or above it, opens nothing.
   * One that was not there then counts once it is there without any link.
   */
  #placeOf(path: string): string | undefined {
    const real = realOrUndefined(path);
    const known = this.#places.get(path) ?? (this.#isPinned ? resolve(path) : real);
    if (known === undefined || known !== real) return undefined;
    this.#places.set(path, known);
    return known;
  }

  #removeTransient(): void {
    for (const path of this.#transient) if (isEmpty(path)) rmdirSync(path);
    this.#transient.clear();
  }
}

function launcher(plan: SandboxPlan, variables: Readonly<Record<string, string>> = {}): string[] {
  const set = Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]);
  if (process.platform !== "darwin") return ["bwrap", ...bubblewrapArgs(plan), ...set, "--"];
  return ["sandbox-exec", "-p", seatbeltProfile(plan), "/usr/bin/env", `TMPDIR=${plan.temp}`];
}

/** Outside of what the commands see as their temporary folder but for the part that is bound there. */
function makeFolder(): string {
  const folder = makeTempFolder("sandbox");
  mkdirSync(join(folder, "tmp"), { mode: 0o700 });
  writeFileSync(join(folder, "blank"), "", { mode: 0o400 });
  return folder;
}

function isEmpty(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    // Gone already.
    return false;
  }
}
