import { rm } from "node:fs/promises";
import { makeTempFolder } from "../platform/temp-folder.ts";
import type { BackendKind } from "../protocol/team.ts";
import type { Surroundings } from "../runtime/surroundings.ts";
import { backendFacts, chooseBackend } from "../runtime/team-backend.ts";

/**
 * In a terminal outside tmux, with the tmux backend, the whole command moves into a tmux session of its own, the lead left and
 * teammates right. Gives its exit code; undefined where the command stays here.
 */
export async function inOwnSession(surroundings: Surroundings, backend: BackendKind | "auto", name: string): Promise<number | undefined> {
  const facts = await backendFacts(surroundings);
  if (!facts.isTerminal || facts.insideTmux || chooseBackend(surroundings, backend, facts).kind !== "tmux") return undefined;
  const { openInOwnSession } = await import("../team/backends/tmux-session.ts");
  const handoverFolder = makeTempFolder("handover");
  try {
    return await openInOwnSession({
      sessionName: `roocode-${name}`,
      argv: process.argv,
      cwd: surroundings.cwd,
      env: surroundings.env,
      handoverFolder,
    });
  } finally {
    await rm(handoverFolder, { recursive: true, force: true });
  }
}

/** The inner side: takes over folder and environment of the command that was started outside, and gives its arguments. */
export async function takeOver(file: string): Promise<string[]> {
  const { takeHandover } = await import("../team/backends/tmux-session.ts");
  const { argv, cwd, env } = await takeHandover(file, process.env);
  for (const variable of Object.keys(process.env)) delete process.env[variable];
  Object.assign(process.env, env);
  process.chdir(cwd);
  return argv;
}
