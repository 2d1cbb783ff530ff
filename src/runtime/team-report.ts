import { git } from "../platform/git.ts";
import type { TeamEvent, TeamStep } from "../protocol/team.ts";
import { readTeam } from "../team/bus/file/open.ts";
import { LogReader, logPath, parseLogLine } from "../team/team-log.ts";
import { spentText } from "./cost-text.ts";
import { type TeamStatus, teamStatus } from "./team-status.ts";

type MemberWork = {
  name: string;
  /** On its branch since its base; absent where the branch is gone with the work merged. */
  commits?: string[];
  files?: string[];
  toolCalls: number;
  messagesSent: number;
  starts: number;
  deaths: string[];
  denied: string[];
};
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
  const status = await teamStatus(folder);
  const { team } = await readTeam(folder);
  const events = (await new LogReader(logPath(folder)).read()).flatMap((line) => parseLogLine(line) ?? []);
  const steps = events.flatMap(({ event }) => (isStep(event) ? [event] : []));
  const landed = steps.findLast((step) => step.type === "landed");
  const names = [
    ...new Set([...status.members.map(({ name }) => name), ...steps.flatMap((step) => (step.type === "ready" ? [step.name] : []))]),
  ];
  const [first, last] = [events[0], events.at(-1)];
  return {
    status,
    ...(first && last ? { from: first.at, to: last.at } : {}),
    members: await Promise.all(names.map((name) => workOf(name, events, steps, team.repoRoot, status))),
    merges: steps.flatMap((step) => {
      if (step.type !== "merge") return [];
      const { type: _, branch: __, ...merge } = step;
      return [merge];
    }),
    checks: steps.flatMap((step) => (step.type === "gate" ? [{ command: step.command, ok: step.ok }] : [])),
    ...(landed ? { landed: { branch: landed.branch, commit: landed.commit } } : {}),
  };
}

async function workOf(
  name: string,
  events: readonly TeamEvent[],
  steps: readonly TeamStep[],
  repo: string,
  { members }: TeamStatus,
): Promise<MemberWork> {
  const own = events.filter(({ agent }) => agent === name);
  const member = members.find((one) => one.name === name);
  return {
    name,
    ...(member ? await onBranch(repo, member) : {}),
    toolCalls: own.filter(({ event }) => event.type === "tool_use").length,
    messagesSent: steps.filter((step) => step.type === "message" && step.from === name).length,
    starts: steps.filter((step) => (step.type === "ready" || step.type === "joined") && step.name === name).length,
    deaths: steps.flatMap((step) => (step.type === "dead" && step.name === name ? [step.how] : [])),
    denied: own.flatMap(({ event }) =>
      event.type === "permission" && event.decision.decision === "deny"
        ? [`${event.request.tool}(${event.request.access.subject.slice(0, 100)}): ${event.decision.reason}`]
        : [],
    ),
  };
}

async function onBranch(
  repo: string,
  { branch, baseCommit }: TeamStatus["members"][number],
): Promise<Pick<MemberWork, "commits" | "files">> {
  const range = `${baseCommit}..refs/heads/${branch}`;
  const log = await git(repo, ["log", "--reverse", "--format=%h %s", range]).catch(() => undefined);
  if (log?.exitCode !== 0) return {};
  const diff = await git(repo, ["diff", "--name-only", "-z", `${baseCommit}...refs/heads/${branch}`]);
  return { commits: lines(log.stdout, "\n"), files: lines(diff.stdout, "\0") };
}

function lines(text: string, separator: string): string[] {
  return text.split(separator).filter((line) => line !== "");
}

function isStep(event: TeamEvent["event"]): event is TeamStep {
  return STEPS.has(event.type) && !("message" in event);
}
const STEPS = new Set<string>(["ready", "joined", "message", "dead", "merge", "gate", "landed"] satisfies TeamStep["type"][]);

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
