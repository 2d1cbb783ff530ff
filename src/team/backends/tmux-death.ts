import { setTimeout as sleep } from "node:timers/promises";
import type { TmuxClient } from "./tmux-client.ts";
import type { Pane } from "./tmux-panes.ts";

const STATUS_WITHIN_MS = 1000;

/**
 * The pane once tmux knows how its program ended, which is a moment after the process is gone; as it is when that does not come
 * (a child of the program holds the terminal). Undefined when it was closed.
 */
export async function awaitStatus(client: TmuxClient, pane: Pane): Promise<Pane | undefined> {
  const until = Date.now() + STATUS_WITHIN_MS;
  let now: Pane | undefined = pane;
  while (now && !(now.isDead && (now.status ?? now.signal) !== undefined) && Date.now() < until) {
    remindOfChildren(now.server);
    await sleep(20);
    now = (await client.panes()).find((one) => one.id === pane.id);
  }
  return now;
}

/** tmux 3.3a misses the end of a program now and then: it stays a zombie without a status until the next such signal. */
function remindOfChildren(server: number): void {
  try {
    process.kill(server, "SIGCHLD");
  } catch {
    // The server has ended by itself.
  }
}

/** What a dead pane shows, without the line in which tmux says that it is dead. */
export async function lastLines(client: TmuxClient, paneId: string, count = 10): Promise<string> {
  const shown = await client.run(["capture-pane", "-p", "-J", "-t", paneId, "-S", "-200"]);
  const lines = shown.split("\n").map((line) => line.trimEnd());
  while (lines.length > 0 && (lines.at(-1) === "" || lines.at(-1)?.startsWith("Pane is dead"))) lines.pop();
  return lines.slice(-count).join("\n");
}
