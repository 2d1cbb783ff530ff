import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { PaneBackend, TeammateInfo } from "../../../src/protocol/team.ts";
import type { UntilReady } from "../../../src/team/backends/process.ts";
import { tmuxBackend } from "../../../src/team/backends/tmux.ts";
import type { TmuxServer } from "../../support/tmux-server.ts";

export const WORKER = fileURLToPath(new URL("../../support/fake-worker.sh", import.meta.url));

type Options = { team?: string; layout?: "auto" | "split" | "window"; socketArgs?: readonly string[]; readyWithinMs?: number };
export type TmuxTeam = {
  backend: PaneBackend;
  notes: string[];
  spawn(name: string, more?: { args?: readonly string[]; worktree?: string; command?: readonly string[] }): Promise<string>;
  /** What the fake worker of that name was given. */
  report(name: string): { pid: number; cwd: string; pane: string; argv: string[] };
  typed(name: string): string;
};

/** The backend with workers that only report that they live. */
export function tmuxTeam(server: Pick<TmuxServer, "folder" | "env">, options: Options = {}): TmuxTeam {
  const { team = "shop", layout = "auto", socketArgs, readyWithinMs = 15_000 } = options;
  const notes: string[] = [];
  const readyFile = (name: string) => join(server.folder, `${team}.${name}.ready`);
  const untilReady: UntilReady = async ({ name }, isGone) => {
    const until = Date.now() + readyWithinMs;
    while (!existsSync(readyFile(name))) {
      const how = await isGone();
      if (how !== undefined) throw new Error(how);
      if (Date.now() > until) throw new Error("it did not report ready in time");
      await sleep(20);
    }
  };
  const onNote = (text: string) => void notes.push(text);
  const backend = tmuxBackend({ team, env: server.env, layout, untilReady, onNote, ...(socketArgs ? { socketArgs } : {}) });
  return {
    backend,
    notes,
    async spawn(name, { args = [], worktree = join(server.folder, "worktrees", name), command } = {}) {
      rmSync(readyFile(name), { force: true });
      mkdirSync(worktree, { recursive: true });
      return backend.spawn(member(name, team, worktree), command ?? [WORKER, readyFile(name), ...args], "");
    },
    report(name) {
      const [pid, cwd = "", pane = "", ...argv] = readFileSync(readyFile(name), "utf8").trimEnd().split("\n");
      return { pid: Number(pid), cwd, pane, argv };
    },
    typed: (name) => (existsSync(`${readyFile(name)}.typed`) ? readFileSync(`${readyFile(name)}.typed`, "utf8") : ""),
  };
}

function member(name: string, team: string, worktreePath: string): TeammateInfo {
  return {
    name,
    agentId: `${name}@${team}`,
    agentType: "worker",
    worktreePath,
    branch: `worktree-team-${team}+${name}`,
    baseCommit: "",
    backendType: "tmux",
    epoch: 1,
    planModeRequired: false,
    permissionMode: "default",
  };
}
