import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { packageRoot } from "../platform/package.ts";
import { projectPaths } from "../platform/paths.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import type { BackendKind, PaneBackend, TeamBus, TeamStep } from "../protocol/team.ts";
import { type BackendChoice, type BackendFacts, detectBackend } from "../team/backends/detect.ts";
import { inProcessBackend } from "../team/backends/in-process.ts";
import { processBackend, type UntilReady } from "../team/backends/process.ts";
import { tmuxBackend } from "../team/backends/tmux.ts";
import type { Boot } from "../team/boot.ts";
import { INTEGRATION } from "../team/clean.ts";
import { type SpawnContext, untilReady } from "../team/spawn.ts";
import { startWorker, type WorkerScreen } from "./start-worker.ts";
import type { Surroundings } from "./surroundings.ts";
import { worktreeLock } from "./worktree-lock.ts";

const READY_TIMEOUT_MS = 20_000;

export async function backendFacts(env: NodeJS.ProcessEnv): Promise<BackendFacts> {
  return {
    insideTmux: Boolean(env.TMUX && env.TMUX_PANE),
    insideITerm: Boolean(env.ITERM_SESSION_ID),
    hasTmux: isOnPath("tmux", env),
    hasIt2: isOnPath("it2", env),
    isTerminal: Boolean(process.stdin.isTTY && process.stdout.isTTY),
  };
}

function isOnPath(program: string, env: NodeJS.ProcessEnv): boolean {
  return (env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== "";
    } catch {
      return false;
    }
  });
}

/** What the person named, else the settings, else what is there. */
export function chooseBackend({ settings }: Surroundings, wanted: BackendKind | "auto", facts: BackendFacts): BackendChoice {
  return detectBackend(wanted === "auto" ? (settings.team?.backend ?? "auto") : wanted, facts);
}

export type BackendOptions = {
  kind: BackendKind;
  team: string;
  teamFolder: string;
  bus: TeamBus;
  env: NodeJS.ProcessEnv;
  layout: "auto" | "split" | "window";
  onNote: (text: string) => void;
  /** For teammates inside this process. */
  screenOf: (name: string) => WorkerScreen;
};

export function makeBackend({ kind, team, teamFolder, bus, env, layout, onNote, screenOf }: BackendOptions): PaneBackend {
  const ready: UntilReady = (info, isGone) => untilReady(info, bus, isGone, READY_TIMEOUT_MS);
  switch (kind) {
    case "process":
      return processBackend({ logFolder: join(teamFolder, "log"), untilReady: ready });
    case "in-process":
      return inProcessBackend({ startWorker: (boot: Boot, signal) => startWorker(boot, screenOf(boot.name), signal), untilReady: ready });
    case "tmux":
      return tmuxBackend({ team, env, layout, untilReady: ready, onNote });
    case "iterm2":
      throw new Error("detectBackend refuses iterm2.");
  }
}

export type SpawnGround = {
  surroundings: Surroundings;
  bus: TeamBus;
  teamFolder: string;
  team: string;
  primary: string;
  backend: PaneBackend;
  mode: PermissionMode;
  headless: boolean;
  onStep: (step: TeamStep) => void;
  onNote: (text: string) => void;
};

export function spawnContext({
  surroundings,
  bus,
  teamFolder,
  team,
  primary,
  backend,
  mode,
  headless,
  onStep,
  onNote,
}: SpawnGround): SpawnContext {
  const { data, env, flags, settings } = surroundings;
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !["TMUX", "TMUX_PANE"].includes(entry[0]),
  );
  return {
    bus,
    teamFolder,
    primary,
    worktrees: data.teamWorktrees(primary, team),
    worktreeLock: worktreeLock(surroundings, primary),
    includeFile: projectPaths(primary).worktreeInclude,
    backend,
    command: [process.execPath, join(packageRoot(), "bin", "roocode.js"), "worker"],
    boot: {
      headless,
      env: Object.fromEntries(passed),
      ...(flags.trust ? { trust: true } : {}),
      ...(flags.addDir ? { addDirs: flags.addDir.map((folder) => resolve(surroundings.cwd, folder)) } : {}),
      ...(settings.team?.orphanTimeoutMs === undefined ? {} : { orphanTimeoutMs: settings.team.orphanTimeoutMs }),
    },
    leadMode: mode,
    onStep,
    onNote,
  };
}

/** Where the branches of a team are merged. */
export function integrationPath({ data }: Surroundings, primary: string, team: string): string {
  return join(data.teamWorktrees(primary, team), INTEGRATION);
}
