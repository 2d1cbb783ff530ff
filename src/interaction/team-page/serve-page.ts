import { setTimeout as sleep } from "node:timers/promises";
import { isErrno } from "../../platform/files.ts";
import type { DataPaths } from "../../platform/paths.ts";
import { UserError } from "../../protocol/errors.ts";
import { teamRecord } from "../../runtime/find-team.ts";
import { followTeam, isOver } from "../../runtime/team-page/follow-team.ts";
import { TeamPageReader } from "../../runtime/team-page/read-page.ts";
import { LiveServer } from "./live-server.ts";
import { teamPageHtml } from "./page.ts";

type Serve = {
  data: DataPaths;
  name: string;
  folder: string;
  port: number;
  json: boolean;
  write: (text: string) => void;
  signal: AbortSignal;
};

/** Browsers are told that something changed no more often. */
const GAP_MS = { least: 300, most: 15_000 };
/** Of the time between two pages, rendering takes a fifth at most. */
const SHARE = 4;
/** For browsers to take the last state. */
const LAST_MS = 5000;

/** The team's page on loopback, live until the team ends or the signal comes. */
export async function servePage({ data, name, folder, port, json, write, signal }: Serve): Promise<number> {
  if (await isOver(folder))
    throw new UserError(`Team "${name}" does not run. See what it did: roocode team report ${name} --html report.html`);
  const pages = new LivePages(folder);
  await using server = await LiveServer.open({
    port,
    render: (version) => pages.render(version),
    onOpened: (url) => write(json ? line({ url }) : `The page was opened. A link for another browser: ${url}\n`),
  });
  const url = server.nextUrl();
  write(
    json ? line({ url }) : `Team "${name}", live: ${url}\nThe link opens one browser, once. The page ends with the team, or by Ctrl+C.\n`,
  );
  await followTeam({
    folder,
    signal,
    onChange: async () => {
      server.changed();
      const gap = Math.min(Math.max(GAP_MS.least, pages.lastMs * SHARE), GAP_MS.most);
      // An abort ends the wait, and then the loop.
      await sleep(gap, undefined, { signal }).catch(() => undefined);
    },
  });
  if (signal.aborted) return 0;
  pages.follow(await teamRecord(data, name));
  await server.end(LAST_MS);
  write(json ? line({ ended: true }) : `The team has ended. What it did: roocode team report ${name}\n`);
  return 0;
}

function line(value: Record<string, unknown>): string {
  return `${JSON.stringify(value)}\n`;
}

/** The page of a team that goes on. While its record is moved, the page before holds. */
class LivePages {
  #reader: TeamPageReader;
  #last: string | undefined;
  lastMs = 0;

  constructor(folder: string) {
    this.#reader = new TeamPageReader(folder);
  }

  follow(folder: string): void {
    this.#reader = new TeamPageReader(folder);
  }

  async render(version: number): Promise<string> {
    const began = performance.now();
    try {
      this.#last = teamPageHtml(await this.#reader.read(), { version });
    } catch (error) {
      if (this.#last === undefined || !(error instanceof UserError || isErrno(error, "ENOENT"))) throw error;
    }
    this.lastMs = performance.now() - began;
    return this.#last;
  }
}
