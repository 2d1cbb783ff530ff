import { setTimeout as sleep } from "node:timers/promises";
import { isErrno } from "../../platform/files.ts";
import type { DataPaths } from "../../platform/paths.ts";
import { UserError } from "../../protocol/errors.ts";
import { teamRecord } from "../../runtime/find-team.ts";
import { followTeam } from "../../runtime/team-page/follow-team.ts";
import { statusText, teamStatus } from "../../runtime/team-status.ts";
import { plainText } from "../../tools/bash/plain-text.ts";
import { onLostReader } from "../lost-output.ts";
import { Repaint } from "../repaint.ts";

type Output = (text: string) => void;
type WatchFlags = { web: boolean; port?: number | undefined; json: boolean };

/** Between two pictures of a terminal, or of a pipe. */
const GAP_MS = 200;

/** Until the team ends, or Ctrl+C. */
export async function watchTeam(data: DataPaths, name: string, { web, port, json }: WatchFlags, write: Output): Promise<number> {
  if (port !== undefined && !web) throw new UserError("--port is the page's: roocode team watch NAME --web --port 8080");
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new UserError("--port is a whole number from 1 to 65535; without it a free one is taken.");
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());
  const folder = await teamRecord(data, name);
  if (web) {
    const { servePage } = await import("../team-page/serve-page.ts");
    return servePage({ data, name, folder, port: port ?? 0, json, write, signal: stop.signal });
  }
  onLostReader(() => stop.abort());
  const screen = new Repaint(process.stdout, write);
  const show = async (where: string) => {
    const status = await teamStatus(where);
    if (json) write(`${JSON.stringify(status)}\n`);
    else screen.show(plainText(statusText(status)));
  };
  await followTeam({
    folder,
    signal: stop.signal,
    onChange: async () => {
      await show(folder).catch((error: unknown) => {
        // Its record is just moved: the last look finds it.
        if (!(error instanceof UserError || isErrno(error, "ENOENT"))) throw error;
      });
      // An abort ends the wait, and then the loop.
      await sleep(GAP_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    },
  });
  // Its record may lie elsewhere by now.
  if (!stop.signal.aborted) await show(await teamRecord(data, name));
  return 0;
}
