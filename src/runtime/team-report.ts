import { git } from "../platform/git.ts";
import { readTeam } from "../team/bus/team-bus.ts";
import { LogReader, logPath, parseLogLine } from "../team/team-log.ts";
import { spentText } from "./cost-text.ts";
import { type AgentWork, TeamChronicle } from "./team-page/chronicle.ts";
import { type TeamStatus, teamStatus } from "./team-status.ts";

/** On a member's branch since its base. */
export type BranchWork = { commits: string[]; files: string[] };
/** Without commits and files where the branch is gone and nothing of it was merged. */
type MemberWork = { name: string } & Partial<BranchWork> & AgentWork;
export type TeamReport = {
  status: TeamStatus;
  /** ISO times of the first and last line of the log. */
  from?: string;
  to?: string;
  members: MemberWork[];
  merges: { name: string; commit?: string; conflict?: readonly string[]; refused?: string }[];
  checks: { command: string; ok: boolean }[];
  landed?: { branch: string; commit: string };
};

/** What a team did, from its log, its record and its branches; also while it runs. */
export async function teamReport(folder: string): Promise<TeamReport> {
  const chronicle = new TeamChronicle();
  for (const line of await new LogReader(logPath(folder)).read()) {
    const event = parseLogLine(line);
    if (event) chronicle.add(event);
  }
  const status = await teamStatus(folder);
  const { team } = await readTeam(folder);
  return reportOf(status, chronicle, await branchWork(team.repoRoot, status, chronicle));
}

export function reportOf(status: TeamStatus, chronicle: TeamChronicle, branches: ReadonlyMap<string, BranchWork>): TeamReport {
  const steps = chronicle.convergence.map(({ step }) => step);
  const landed = steps.findLast((step) => step.type === "landed");
  const started = [...chronicle.works].flatMap(([name, { starts }]) => (starts > 0 ? [name] : []));
  const names = [...new Set([...status.members.map(({ name }) => name), ...started])];
  return {
    status,
    ...(chronicle.from !== undefined && chronicle.to !== undefined ? { from: chronicle.from, to: chronicle.to } : {}),
    members: names.map((name) => ({ name, ...branches.get(name), ...chronicle.workOf(name) })),
    merges: steps.flatMap((step) => {
      if (step.type !== "merge") return [];
      const { type: _, branch: __, ...merge } = step;
      return [merge];
    }),
    checks: steps.flatMap((step) => (step.type === "gate" ? [{ command: step.command, ok: step.ok }] : [])),
    ...(landed ? { landed: { branch: landed.branch, commit: landed.commit } } : {}),
  };
}

/** Of each member that has a branch, or whose branch went with the merge that took it in. */
export async function branchWork(repo: string, { members }: TeamStatus, { convergence }: TeamChronicle): Promise<Map<string, BranchWork>> {
  const works = await Promise.all(
    members.map(async ({ name, branch, baseCommit }): Promise<[string, BranchWork][]> => {
      const merge = convergence.findLast(({ step }) => step.type === "merge" && step.name === name && step.commit !== undefined)?.step;
      const merged = merge?.type === "merge" && merge.commit !== undefined ? [`${merge.commit}^2`] : [];
      for (const tip of [`refs/heads/${branch}`, ...merged]) {
        const work = await workUpTo(repo, baseCommit, tip);
        if (work) return [[name, work]];
      }
      return [];
    }),
  );
  return new Map(works.flat());
}

async function workUpTo(repo: string, base: string, tip: string): Promise<BranchWork | undefined> {
  const log = await git(repo, ["log", "--reverse", "--format=%h %s", `${base}..${tip}`]).catch(() => undefined);
  if (log?.exitCode !== 0) return undefined;
  const diff = await git(repo, ["diff", "--name-only", "-z", `${base}...${tip}`]);
  return { commits: lines(log.stdout, "\n"), files: lines(diff.stdout, "\0") };
}

function lines(text: string, separator: string): string[] {
  return text.split(separator).filter((line) => line !== "");
}

export function reportText({ status, from, to, members, merges, checks, landed }: TeamReport): string {
  const done = status.tasks.filter((task) => task.status === "completed").length;
  return [
    `Team ${status.team}: ${status.goal.split("\n")[0]?.slice(0, 100) ?? ""}`,
    `State: lead ${status.state}${status.detail ? ` (${status.detail})` : ""}${from && to ? `; from ${from.slice(0, 19)} to ${to.slice(0, 19)}` : ""}`,
    landed
      ? `Result: ${landed.branch} is at ${landed.commit.slice(0, 8)}; ${done} of ${status.tasks.length} tasks completed.`
      : `Result: nothing on ${status.baseBranch} yet; ${done} of ${status.tasks.length} tasks completed.`,
    "",
    ...members.flatMap((member) => memberLines(member, status)),
    "",
    ...status.tasks.map((task) => taskLine(task)),
    ...(merges.length > 0 ? ["", ...merges.map(mergeLine)] : []),
    ...checks.map(({ command, ok }) => `Check "${command}" ${ok ? "passed" : "failed"}.`),
    ...(status.spent ? ["", `Spent: ${spentText(status.spent)}.`] : []),
  ].join("\n");
}

function memberLines(work: MemberWork, { members }: TeamStatus): string[] {
  const member = members.find((one) => one.name === work.name);
  const parts = [
    member?.state ?? "no longer in the team",
    ...(work.commits ? [`${counted(work.commits.length, "commit")} on ${member?.branch}`] : []),
    ...(work.files ? [counted(work.files.length, "file")] : []),
    counted(work.toolCalls, "tool call"),
    counted(work.messagesSent, "message"),
    ...(work.starts > 1 ? [`started ${work.starts} times`] : []),
    ...(member?.spent ? [spentText(member.spent)] : []),
  ];
  return [
    `${work.name}: ${parts.join(", ")}`,
    ...work.deaths.map((how) => `  died: ${how}`),
    ...work.denied.slice(0, 5).map((text) => `  denied: ${text}`),
    ...(work.denied.length > 5 ? [`  and ${work.denied.length - 5} more denials`] : []),
  ];
}

function taskLine({ id, status, subject, owner, attempts, commit, noChange, note }: TeamStatus["tasks"][number]): string {
  const how = [
    ...(owner ? [owner] : []),
    ...(commit ? [commit.slice(0, 8)] : noChange ? ["no change needed"] : []),
    ...(attempts > 1 ? [`attempt ${attempts}`] : []),
  ];
  const why = status === "completed" || note === undefined ? "" : ` — ${note.split("\n").at(-1)?.slice(0, 160)}`;
  return `Task ${id} ${status}: ${subject}${how.length > 0 ? ` (${how.join(", ")})` : ""}${why}`;
}

function mergeLine({ name, commit, conflict, refused }: TeamReport["merges"][number]): string {
  if (refused !== undefined) return `Merge of ${name} taken back: ${refused.split("\n", 1)[0]}`;
  if (conflict !== undefined) return `Conflict in the merge of ${name}: ${conflict.join(", ")}`;
  return `Merged ${name}${commit ? ` (${commit.slice(0, 8)})` : ""}.`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
