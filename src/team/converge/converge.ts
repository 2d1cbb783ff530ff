import { isAncestor, notIn, tipsOf } from "../../platform/ancestry.ts";
import { GitError, git } from "../../platform/git.ts";
import { GitKilled } from "../../platform/killed-git.ts";
import type { LoopComplete } from "../../protocol/agent.ts";
import { UserError } from "../../protocol/errors.ts";
import type { TeamBus, TeamConfig, TeamStep } from "../../protocol/team.ts";
import type { Tool } from "../../protocol/tool.ts";
import type { WorktreeNeeds } from "../worktree-needs.ts";
import { executableChanges } from "./executable-changes.ts";
import { type Candidate, Guard, type MergeHooks } from "./guard.ts";
import { type Integration, mergesBetween, openIntegration } from "./integrate.ts";
import { integratorGrants, integratorPrompt } from "./integrator-job.ts";
import { changesBetween, land } from "./land.ts";
import { keep, lostWork } from "./lost-work.ts";
import { reopenTasks, type Sorted, sortMembers, startedMeanwhile, stillActive } from "./members.ts";
import { pathsText } from "./path-text.ts";
import { previewBranches, previewMerge } from "./preview.ts";
import { type ConvergeReport, type MergedMember, makeReport, type UnmergedMember } from "./report.ts";

/** What runtime needs to run the integrator's conversation. */
export type IntegratorJob = {
  prompt: string;
  /** Its working folder and root. */
  worktree: string;
  /** Beside what its commands have in their environment anyway. */
  env: NodeJS.ProcessEnv;
  /** Texts of allow rules that are valid in the worktree alone. */
  grants: string[];
  /** Puts the system's watch around the Bash tool. */
  guard: (bash: Tool) => Tool;
};

export type ConvergeOptions = MergeHooks & {
  bus: TeamBus;
  /** The user's checkout that the team was started in. */
  checkout: string;
  primary: string;
  integrationPath: string;
  worktreeLock: string;
  needs: WorktreeNeeds;
  guidance?: string;
  runIntegrator: (job: IntegratorJob, signal: AbortSignal) => Promise<LoopComplete>;
  onStep: (step: TeamStep) => void;
  onNote: (text: string) => void;
  /** The worktree for the merges was made. */
  onWorktree?: ((path: string) => Promise<void>) | undefined;
  signal: AbortSignal;
  /** How long a member may be at work still before it is refused. */
  idleWaitMs?: number;
  gateTimeoutMs?: number;
};

const IDLE_WAIT_MS = 30_000;

/**
 * The branches of all members into one, then into the user's branch. The integrator (a model) merges and resolves; everything
 * that must hold is looked at here, by git's own facts. What was not merged stays on its branch and is named.
 */
export async function converge(options: ConvergeOptions): Promise<ConvergeReport> {
  const { bus, checkout, primary, signal, onStep } = options;
  const team = await bus.roster.read();
  const { baseBranch, check } = team;
  const facts = {
    checkout,
    baseBranch,
    check,
    isBaseMoved: false,
    hasLandedBefore: false,
    executable: [],
    choices: [],
    own: [],
    merged: [],
    integratorText: "",
  };

  const active = await stillActive(bus, team.members, options.idleWaitMs ?? IDLE_WAIT_MS, signal);
  if (active.length > 0) {
    const reason = `${active.join(", ")} ${active.length === 1 ? "is" : "are"} still at work; wait for the idle notice, or stop ${active.length === 1 ? "it" : "them"}, then converge again.`;
    return makeReport({ ...facts, unmerged: team.members.map(({ name, branch }) => ({ name, branch, kind: "left", reason })) });
  }

  const tip = await git(primary, ["rev-parse", "--verify", "--quiet", `refs/heads/${team.baseBranch}^{commit}`]);
  const start = tip.exitCode === 0 ? tip.stdout.trim() : team.baseCommit;
  const sorted = await sortMembers(primary, start, team.members);
  const held = team.members.filter(({ name }) => !sorted.left.some((one) => one.name === name));
  sorted.left.push(...(await lostWork(bus, { primary, team: team.name, start }, held)));
  if (sorted.candidates.length === 0) {
    await reopenTasks(bus, sorted.left, (commit) => isAncestor(primary, commit, start), onStep);
    return makeReport({ ...facts, merged: sorted.landed, unmerged: sorted.left, hasLandedBefore: sorted.landed.length > 0 });
  }

  const { integrationPath: path, worktreeLock, needs, onNote, onWorktree } = options;
  const opened = await openIntegration({ primary, path, start, worktreeLock, needs, onNote, onWorktree, signal }).catch(
    (error: unknown) => {
      // The setup command, or a full disk: nothing was merged, and what there is to merge stays where it is.
      if (error instanceof UserError || error instanceof GitError || error instanceof GitKilled)
        return `there is no worktree to merge in: ${error.message}`;
      throw error;
    },
  );
  if (typeof opened === "string") {
    const unmerged = sorted.candidates.map(({ name, branch }): UnmergedMember => ({ name, branch, kind: "left", reason: opened }));
    return makeReport({
      ...facts,
      merged: sorted.landed,
      unmerged: [...sorted.left, ...unmerged],
      hasLandedBefore: sorted.landed.length > 0,
    });
  }
  const integration = opened;
  const guard = new Guard({
    integration,
    candidates: sorted.candidates,
    check: team.check,
    gateTimeoutMs: options.gateTimeoutMs,
    beforeMerge: options.beforeMerge,
    afterMerge: options.afterMerge,
    onStep,
    signal,
  });
  const end = await integrate(team, integration, guard, sorted.candidates, options);
  return finish(team, integration, guard, sorted, end, options);
}

/** Runs the integrator over what is not merged yet. Undefined when all was merged by an earlier Converge. */
async function integrate(
  team: TeamConfig,
  integration: Integration,
  guard: Guard,
  candidates: readonly Candidate[],
  { bus, runIntegrator, guidance, onStep, signal }: ConvergeOptions,
): Promise<LoopComplete | undefined> {
  const tips = candidates.map(({ tip }) => tip);
  const missing = await notIn(integration.path, tips, integration.accepted);
  const open = candidates.filter(({ tip }) => missing.has(tip));
  const before = candidates.filter(({ tip }) => !missing.has(tip)).map(({ name }) => name);
  if (open.length === 0) return undefined;
  const { branches, pairs } = await previewBranches(integration.path, integration.accepted, open);
  for (const { name, branch, tip, fork, changes } of branches) {
    const files = await executableChanges(integration.path, fork, tip, changes);
    if (files.length > 0) onStep({ type: "executable", name, branch, files });
  }
  const tasks = await bus.tasks.list();
  const prompt = integratorPrompt({ team, start: integration.start, worktree: integration.path, branches, pairs, tasks, before, guidance });
  const end = await runIntegrator(
    { prompt, worktree: integration.path, env: integration.env, grants: integratorGrants(branches), guard: guard.wrap },
    signal,
  );
  // What a command in the background did, or a merge that was left unfinished.
  if (!signal.aborted) await guard.look();
  await integration.reset();
  return end;
}

async function finish(
  team: TeamConfig,
  integration: Integration,
  guard: Guard,
  { candidates, landed, left }: Sorted,
  end: LoopComplete | undefined,
  { bus, checkout, primary, signal, onStep }: ConvergeOptions,
): Promise<ConvergeReport> {
  const { start, accepted, path } = integration;
  const isInterrupted = signal.aborted || end?.reason === "aborted";
  const merged: MergedMember[] = [...landed];
  const unmerged: UnmergedMember[] = [...left];
  const merges = await mergesBetween(path, start, accepted);
  const tips = await tipsOf(
    path,
    team.members.map(({ branch }) => branch),
  );
  const missing = await notIn(path, [...tips.values(), ...candidates.map(({ tip }) => tip)], accepted);
  for (const candidate of candidates) {
    const { name, branch, tip } = candidate;
    const now = tips.get(branch);
    const isTaken = !missing.has(tip);
    if (!isTaken && now !== tip && (now === undefined || !(await isAncestor(path, tip, now)))) {
      const kept = await keep(primary, team.name, name, tip);
      const reason = `${branch} was moved away from ${tip.slice(0, 10)} while the merging went on.`;
      unmerged.push({ name, branch: kept ?? branch, kind: "left", reason });
    } else if (isTaken && (now === undefined || !missing.has(now)))
      merged.push({ name, branch, commit: guard.merged.get(name) ?? merges.get(tip) ?? tip });
    else if (isInterrupted) unmerged.push({ name, branch, kind: "left", reason: "interrupted." });
    else unmerged.push({ name, branch, ...(await whyNot(candidate, integration, guard, end)) });
  }

  const others = team.members.filter(({ name }) => ![...candidates, ...left].some((one) => one.name === name));
  unmerged.push(...startedMeanwhile(others, tips, missing));

  let landProblem: string | undefined;
  let isLanded = false;
  let isBaseMoved = false;
  if (isInterrupted && accepted !== start) landProblem = "interrupted. What was merged is kept for the next Converge.";
  else if (accepted !== start) {
    // Accepted by an earlier Converge: its green is not known here.
    const gate = team.check !== undefined && guard.acceptedGate === undefined ? await guard.gateNow(team.check) : undefined;
    if (gate?.ok === false) landProblem = `the check fails on what an earlier Converge merged (${accepted}).`;
    else {
      const landing = await land({
        primary,
        checkout,
        branch: team.baseBranch,
        from: start,
        to: accepted,
        changedBy: authors(primary, start, candidates),
        signal,
      });
      isLanded = landing.type === "landed";
      isBaseMoved = landing.type === "moved";
      if (landing.type !== "landed") landProblem = landing.reason;
      else onStep({ type: "landed", branch: team.baseBranch, commit: accepted });
    }
  }
  const lastGate = landProblem === undefined && accepted !== start ? guard.acceptedGate : guard.lastGate;
  // Neither the person's Esc nor a provider's failure says anything about the work.
  if (!isInterrupted && !end?.error) await reopenTasks(bus, unmerged, (commit) => isAncestor(primary, commit, accepted), onStep);
  return makeReport({
    merged,
    unmerged,
    ...(isLanded ? { landed: { branch: team.baseBranch, from: start, to: accepted } } : {}),
    ...(landProblem === undefined ? {} : { landProblem }),
    ...(team.check !== undefined && lastGate ? { gate: { command: team.check, ...lastGate } } : {}),
    integratorText: end?.text ?? "",
    checkout,
    baseBranch: team.baseBranch,
    check: team.check,
    isBaseMoved,
    hasLandedBefore: landed.length > 0,
    executable: accepted === start ? [] : await executableChanges(primary, start, accepted, await changesBetween(primary, start, accepted)),
    choices: guard.choices,
    own: guard.own,
  });
}

async function whyNot(
  { name, branch }: Candidate,
  integration: Integration,
  guard: Guard,
  end: LoopComplete | undefined,
): Promise<Pick<UnmergedMember, "kind" | "reason">> {
  const known = guard.refusals.get(name);
  if (known) return known;
  if (guard.merged.has(name)) return { kind: "left", reason: "commits came after it was merged; converge again." };
  if (end?.error) return { kind: "left", reason: `the integrator failed: ${end.error.message}` };
  const { conflicts } = await previewMerge(integration.path, integration.accepted, `refs/heads/${branch}`);
  if (conflicts.length > 0) return { kind: "conflict", reason: `It conflicts in ${pathsText(conflicts)}.` };
  const how = end === undefined || end.reason === "end_turn" ? "" : `, which ended early (${end.reason})`;
  return { kind: "left", reason: `left by the integrator${how}.` };
}

/** Asked only when something stands in the way. */
function authors(primary: string, start: string, candidates: readonly Candidate[]): (path: string) => Promise<string> {
  const read = async () =>
    Promise.all(candidates.map(async ({ name, tip }) => ({ name, changes: await changesBetween(primary, `${start}...${tip}`) })));
  let all: ReturnType<typeof read> | undefined;
  return async (path) => {
    all ??= read();
    return (await all).flatMap(({ name, changes }) => (changes.has(path) ? [name] : [])).join(", ") || "the team";
  };
}
