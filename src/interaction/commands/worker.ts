import { startWorker } from "../../runtime/start-worker.ts";
import type { Boot } from "../../team/boot.ts";
import { takeBoot } from "../../team/boot.ts";
import { WorkerControl } from "../../team/worker.ts";
import { outliveOutput } from "../lost-output.ts";
import { WorkerPane } from "../worker-pane.ts";

/** What a pane or a headless process runs: the boot file says who it is. */
export async function bootWorker(path: string): Promise<number> {
  return runAs(await takeBoot(path));
}

/** `roocode worker --team x --name alice`: a new name joins, that of a dead or stopped member takes over its work. */
export async function workerCommand(args: { team: string; name: string; model?: string | undefined }): Promise<number> {
  const { joinTeam } = await import("../../runtime/join-team.ts");
  return runAs(await joinTeam(args, process.env));
}

async function runAs(boot: Boot): Promise<number> {
  // Of the pane's own environment only the terminal's part stays: keys and paths are the lead's.
  const { TERM, TMUX, TMUX_PANE } = process.env;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, boot.env, { ...(TERM ? { TERM } : {}), ...(TMUX ? { TMUX } : {}), ...(TMUX_PANE ? { TMUX_PANE } : {}) });

  outliveOutput();
  const control = new WorkerControl();
  const onSignal = () => control.requestShutdown("its process was asked to end");
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("SIGHUP", onSignal);
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const { ROOCODE_SCREEN, NO_COLOR } = process.env;
  const terminal = { input: process.stdin, output: process.stdout, isScreen: isTerminal && !NO_COLOR };
  const isPlain = ROOCODE_SCREEN === "plain" || TERM === "dumb";
  using pane = new WorkerPane({ name: boot.name, team: boot.team, terminal, isTerminal, isPlain });
  await startWorker(boot, pane.screen, new AbortController().signal, control);
  return 0;
}
