import { join } from "node:path";
import { isAlive } from "../../platform/process.ts";
import { stopTree } from "../../platform/process-tree.ts";
import type { BackendKind, PaneBackend, TeammateInfo } from "../../protocol/team.ts";
import { PaneScript } from "./pane-script.ts";
import type { UntilReady } from "./process.ts";

export type Terminal = {
  kind: BackendKind;
  /** Opens a pane that runs `sh SCRIPT`; gives its id. One call at a time. */
  open(teammate: TeammateInfo, script: string): Promise<string>;
  /** Once more, where what was typed may have been lost; called while nothing has begun. */
  again?(paneId: string, script: string): Promise<void>;
  /** A pane that is closed already is no fault. */
  close(paneId: string): Promise<void>;
};
type Options = {
  terminal: Terminal;
  /** Each member's folder for what its script notes. */
  folderOf: (name: string) => string;
  memberWith: (paneId: string) => Promise<TeammateInfo | undefined>;
  untilReady: UntilReady;
  againAfterMs?: number;
};

const AGAIN_AFTER_MS = 5_000;

/** Teammates in panes of a terminal that runs a script and closes a pane, and can't be asked about its panes. */
export function scriptedBackend({ terminal, folderOf, memberWith, untilReady, againAfterMs = AGAIN_AFTER_MS }: Options): PaneBackend {
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <Value>(call: () => Promise<Value>): Promise<Value> => {
    const next = turn.then(call, call);
    turn = next.catch(() => undefined);
    return next;
  };

  async function end(paneId: string, pid: number | undefined): Promise<void> {
    if (pid !== undefined) await stopTree(pid);
    await inTurn(() => terminal.close(paneId));
  }

  return {
    kind: terminal.kind,
    async spawn(teammate, command) {
      const script = await PaneScript.write(join(folderOf(teammate.name)), teammate.worktreePath, command);
      const paneId = await inTurn(() => terminal.open(teammate, script.path));
      let retryAt = terminal.again ? Date.now() + againAfterMs : undefined;
      try {
        await untilReady(teammate, async () => {
          if (retryAt !== undefined && Date.now() > retryAt && (await script.pid()) === undefined) {
            retryAt = undefined;
            await inTurn(async () => terminal.again?.(paneId, script.path));
          }
          return script.howItEnded();
        });
      } catch (error) {
        await end(paneId, await script.pid());
        throw error;
      }
      return paneId;
    },
    async state(paneId) {
      const member = await memberWith(paneId);
      if (member?.process && isAlive(member.process)) return { alive: true };
      const status = member && (await PaneScript.in(folderOf(member.name)).exitStatus());
      return { alive: false, ...(status === undefined ? {} : { status }) };
    },
    async kill(paneId) {
      const process = (await memberWith(paneId))?.process;
      await end(paneId, process && isAlive(process) ? process.pid : undefined);
    },
  };
}
