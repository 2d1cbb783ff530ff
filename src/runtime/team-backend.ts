import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { packageRoot } from "../platform/package.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import type { BackendKind, PaneBackend, TeamBus, TeamStep } from "../protocol/team.ts";
import { commandTerminal, type PaneCommands } from "../team/backends/command.ts";
import { type BackendChoice, type BackendFacts, detectBackend } from "../team/backends/detect.ts";
import { inProcessBackend } from "../team/backends/in-process.ts";
import { iterm2Terminal } from "../team/backends/iterm2.ts";
import { processBackend, type UntilReady } from "../team/backends/process.ts";
import { scriptedBackend, type Terminal } from "../team/backends/scripted.ts";
import { tmuxBackend } from "../team/backends/tmux.ts";
import type { Boot } from "../team/boot.ts";
import { INTEGRATION } from "../team/clean.ts";
import { type SpawnContext, untilReady } from "../team/spawn.ts";
import type { WorktreeNeeds } from "../team/worktree-needs.ts";
import { startWorker, type WorkerScreen } from "./start-worker.ts";
import type { Surroundings } from "./surroundings.ts";
import { worktreeLock } from "./worktree-lock.ts";

const READY_TIMEOUT_MS = 20_000;

export async function backendFacts({ env, settings }: Pick<Surroundings, "env" | "settings">): Promise<BackendFacts> {
  return {
    hasPaneCommands: settings.team?.pane !== undefined,
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
  pane: PaneCommands | undefined;
  layout: "auto" | "split" | "window";
  onNote: (text: string) => void;
  /** For teammates inside this process. */
  screenOf: (name: string) => WorkerScreen;
};

export function makeBackend({ kind, team, teamFolder, bus, env, pane, layout, onNote, screenOf }: BackendOptions): PaneBackend {
  const ready: UntilReady = (info, isGone) => untilReady(info, bus, isGone, READY_TIMEOUT_MS);
  const scripted = (terminal: Terminal) =>
    scriptedBackend({
      terminal,
      folderOf: (name) => join(teamFolder, "log", `${name}.pane`),
      memberWith: async (paneId) => (await bus.roster.read()).members.find((member) => member.paneId === paneId),
      untilReady: ready,
    });
  switch (kind) {
    case "process":
      return processBackend({ logFolder: join(teamFolder, "log"), untilReady: ready });
    case "in-process":
      return inProcessBackend({ startWorker: (boot: Boot, signal) => startWorker(boot, screenOf(boot.name), signal), untilReady: ready });
    case "tmux":
      return tmuxBackend({ team, env, layout, untilReady: ready, onNote });
    case "iterm2":
      return scripted(iterm2Terminal(env));
    case "command":
      if (!pane) throw new Error("detectBackend refuses it without the commands.");
      return scripted(commandTerminal(pane, team, env));
  }
}

export type SpawnGround = {
  surroundings: Surroundings;
  bus: TeamBus;
  teamFolder: string;
  team: string;
  primary: string;
  needs: WorktreeNeeds;
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
  needs,
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
    needs,
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
