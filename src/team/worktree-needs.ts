import { exists } from "../platform/files.ts";
import { lfsNote } from "../platform/lfs.ts";
import { type PortRange, takePorts } from "../platform/port-blocks.ts";
import { fillSubmodules } from "../platform/submodules.ts";
import { furnishWorktree, removeWorktree } from "../platform/worktree.ts";
import { UserError } from "../protocol/errors.ts";
import type { PortBlock } from "../protocol/team.ts";
import { runGate } from "./converge/gate.ts";
import { commandMark } from "./left-commands.ts";

/** What a worktree of ours gets beside the files of its commit. */
export type WorktreeNeeds = {
  /** Names the ignored files that are copied. */
  includeFile: string;
  /** Commands of the person's: in a fresh worktree before anyone works there, and before it is removed. */
  setup?: string;
  teardown?: string;
  /** `record`: the file that says which worktree has which ports. */
  ports: PortRange & { record: string };
  setupTimeoutMs?: number;
  teardownTimeoutMs?: number;
};
export type Place = { primary: string; path: string; needs: WorktreeNeeds };

const SETUP_MS = 10 * 60_000;
const TEARDOWN_MS = 60_000;
const LAST_LINES = 20;

/** Files, submodules, ports, then the setup command. Throws a UserError with the command's end when it fails; the worktree is the caller's to remove. */
export async function equipWorktree(place: Place, signal: AbortSignal): Promise<{ ports: PortBlock; notes: string[] }> {
  const { primary, path, needs } = place;
  const lfs = await lfsNote(path);
  const notes = [
    ...(await furnishWorktree(primary, path, needs.includeFile)),
    ...(await fillSubmodules(primary, path)),
    ...(lfs === undefined ? [] : [lfs]),
  ];
  const ports = await portsOf(place);
  if (needs.setup !== undefined) {
    const problem = await runOwn(place, needs.setup, ports, needs.setupTimeoutMs ?? SETUP_MS, signal);
    if (problem !== undefined) throw new UserError(`its setup command (${needs.setup}) failed:\n${problem}`);
  }
  return { ports, notes };
}

export async function portsOf({ path, needs }: Place): Promise<PortBlock> {
  return takePorts(needs.ports.record, path, needs.ports);
}

/**
 * The teardown command, then the folder goes. A command that fails is told and holds nothing up: whoever calls this has proven that
 * nothing is lost.
 */
export async function dismantleWorktree(place: Place, lockPath: string): Promise<string[]> {
  const notes = await tearDown(place);
  await removeWorktree(place.primary, place.path, lockPath);
  return notes;
}

async function tearDown(place: Place): Promise<string[]> {
  const { path, needs } = place;
  if (needs.teardown === undefined || !(await exists(path))) return [];
  const problem = await runOwn(
    place,
    needs.teardown,
    await portsOf(place),
    needs.teardownTimeoutMs ?? TEARDOWN_MS,
    new AbortController().signal,
  ).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  return problem === undefined ? [] : [`The teardown command (${needs.teardown}) failed in ${path}:\n${problem}`];
}

/** The end of what it printed with how it ended, when it failed. */
async function runOwn(
  { primary, path }: Place,
  command: string,
  ports: PortBlock,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const env = { ...commandMark({ worktreePath: path, ports }), ROOCODE_PRIMARY: primary };
  const { ok, output } = await runGate({ command, worktree: path, timeoutMs, env }, signal);
  return ok ? undefined : output.split("\n").slice(-LAST_LINES).join("\n");
}
