import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { readTextOrUndefined } from "../../platform/files.ts";
import { processStart } from "../../platform/process.ts";
import { stopTree } from "../../platform/process-tree.ts";
import type { PaneBackend, TeammateInfo } from "../../protocol/team.ts";

/** Resolves when the worker has reported ready; asks `isGone` meanwhile and rejects with what it says. */
export type UntilReady = (info: TeammateInfo, isGone: () => Promise<string | undefined>) => Promise<void>;

/** Headless: a process group of its own with a log file, for CI and wherever no terminal is. A pane's id is `<pid>@<start time>`. */
export function processBackend({ logFolder, untilReady }: { logFolder: string; untilReady: UntilReady }): PaneBackend {
  const ended = new Map<string, { status?: number; signal?: number }>();
  return {
    kind: "process",
    async spawn(teammate, command) {
      mkdirSync(logFolder, { recursive: true, mode: 0o700 });
      const logPath = join(logFolder, `${teammate.name}.log`);
      const log = openSync(logPath, "a", 0o600);
      const [file = "", ...args] = command;
      const child = spawn(file, args, { cwd: teammate.worktreePath, detached: true, stdio: ["ignore", log, log] });
      closeSync(log);
      let how: string | undefined;
      const id = child.pid === undefined ? "" : `${child.pid}@${processStart(child.pid) ?? ""}`;
      child.on("error", (error) => {
        how = `it could not be started: ${error.message}`;
      });
      child.on("exit", (code, signal) => {
        how = signal ? `it was ended by ${signal}` : `it ended with exit status ${code}`;
        ended.set(id, signal ? { signal: constants.signals[signal] } : { status: code ?? 0 });
      });
      // The member outlives the lead.
      child.unref();
      try {
        await untilReady(teammate, async () => how && `${how}. Its last lines:\n${await lastLines(logPath)}`);
      } catch (error) {
        if (child.pid !== undefined) await stopTree(child.pid);
        throw error;
      }
      return id;
    },
    async state(paneId) {
      const [pid = "", startedAt] = paneId.split("@");
      return processStart(Number(pid)) === startedAt ? { alive: true } : { alive: false, ...ended.get(paneId) };
    },
    async kill(paneId) {
      const [pid = "", startedAt] = paneId.split("@");
      if (processStart(Number(pid)) === startedAt) await stopTree(Number(pid));
    },
  };
}

async function lastLines(path: string): Promise<string> {
  return ((await readTextOrUndefined(path)) ?? "").trimEnd().split("\n").slice(-10).join("\n");
}
