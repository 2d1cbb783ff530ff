import type { CommitRequest } from "../platform/commit.ts";
import { GitError, gitText } from "../platform/git.ts";
import { UserError } from "../protocol/errors.ts";
import { type Spent, spentSince } from "../protocol/model.ts";
import type { TeammateInfo, TeamTask } from "../protocol/team.ts";
import { runGate } from "../team/converge/gate.ts";
import { commandMark } from "../team/left-commands.ts";
import type { Completion } from "../team/tools/task-update.ts";
import type { OpenedAgent } from "./open-agent.ts";

export type AtClaim = { head: string; spent: Spent };

/** Commits the work, runs the task's check, and says which commit holds it. */
export async function completion(
  task: TeamTask,
  info: TeammateInfo,
  atClaim: AtClaim | undefined,
  save: (request: CommitRequest) => Promise<string | undefined>,
  spent: () => Spent,
  check: (command: string) => Promise<string | undefined>,
): Promise<Completion> {
  const reason = task.check === undefined ? undefined : await check(task.check);
  if (reason !== undefined) return { ok: false, reason };
  const trailers = { "RooCode-Task": task.id, ...(task.claim ? { "RooCode-Epoch": String(task.claim.epoch) } : {}) };
  const saved = await save({ subject: task.subject, trailers, mustTakeAll: true }).catch((error: unknown) => {
    if (error instanceof UserError) return { held: error.message };
    if (error instanceof GitError) return { held: `its work can't be committed: ${error.message}` };
    throw error;
  });
  if (typeof saved === "object") return { ok: false, reason: saved.held };
  const head = saved ?? (await gitText(info.worktreePath, ["rev-parse", "HEAD"]));
  const before = atClaim?.head ?? info.baseCommit;
  return {
    ok: true,
    ...(head === before ? {} : { commit: head }),
    ...(atClaim ? { spent: spentSince(spent(), atClaim.spent) } : {}),
  };
}

/**
 * Why a task's check does not pass; undefined when it does. It is a model's words, unless it is the team's own: what its owner may not
 * run it may not either, and it runs in the same sandbox.
 */
export async function runTaskCheck(
  command: string,
  { info, teamCheck, agent }: { info: TeammateInfo; teamCheck: string | undefined; agent: OpenedAgent | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  const isOwn = command === teamCheck;
  if (!isOwn) {
    const request = { agent: info.name, tool: "Bash", access: { kind: "command", subject: command } } as const;
    const decision = await agent?.permissions.authorize(request, signal);
    if (decision?.decision !== "allow") return `its check "${command}" may not run: ${decision?.reason ?? "the member is not open"}`;
  }
  const { ok, output } = await runGate(
    { command, worktree: info.worktreePath, env: commandMark(info), ...(isOwn ? {} : { contain: agent?.contain }) },
    signal,
  );
  return ok ? undefined : `its check "${command}" failed:\n${output.slice(-4_000)}`;
}
