import { isErrno } from "../platform/files.ts";
import { isAlive } from "../platform/process.ts";
import { addSpent, NOTHING_SPENT, type Spent } from "../protocol/model.ts";
import type { AgentState, MemberStatus, PortBlock, TeamConfig, TeamTask, Waiting } from "../protocol/team.ts";
import { LEAD } from "../protocol/team.ts";
import { type Letter, recentMail } from "../team/bus/file/box.ts";
import { memberNames } from "../team/bus/recipients.ts";
import { readTeam } from "../team/bus/team-bus.ts";
import { filesOfMembers, type Overlap, overlapLines, overlapsOf } from "../team/foresight.ts";
import { unfinishedBlockers } from "../team/task-rules.ts";
import { unreadText } from "../team/unread-text.ts";
import { spentText } from "./cost-text.ts";

type MemberView = {
  name: string;
  state: MemberStatus;
  detail?: string;
  pid?: number;
  task?: string;
  branch: string;
  worktree: string;
  backendType: string;
  paneId?: string;
  epoch: number;
  permissionMode: string;
  baseCommit: string;
  ports?: PortBlock;
  /** Changed in its worktree against the base branch; only where they were asked for. */
  files?: string[];
  unread: number;
  /** When the oldest of them was sent. */
  oldestUnreadAt?: string;
  spent?: Spent;
};
/** `sent`: it lies in the box of one who does not run; `delivered`: of one who runs; `read`: it is in the reader's transcript. */
type MailView = Omit<Letter, "isRead"> & { state: "sent" | "delivered" | "read" };
type TaskView = Omit<TeamTask, "claim" | "revision"> & { waitsFor: string[] };
export type TeamStatus = {
  team: string;
  goal: string;
  /** Of the lead, in the words of AgentState. */
  state: MemberStatus;
  detail?: string;
  lead?: { pid: number; alive: boolean; spent?: Spent };
  backend?: { kind: string; reason: string };
  baseBranch: string;
  baseCommit: string;
  check?: string;
  /** By all agents together; absent before the first answer. */
  spent?: Spent;
  maxCost?: number;
  members: MemberView[];
  /** Files that more than one member changes; only where they were asked for. */
  overlaps?: Overlap[];
  tasks: TaskView[];
  /** The newest, oldest first. */
  mail: MailView[];
};

const NEWEST_MAIL = 20;
/** More than that is for --json. */
const SHOWN_MAIL = 8;

/** What is true of a team now, read from its files; nobody needs to run. */
export async function teamStatus(folder: string): Promise<TeamStatus> {
  const { team, tasks, presence, boxes } = await readTeam(folder);
  const presenceOf = (name: string) => presence.find((state) => state.name === name);
  const lead = presenceOf(LEAD);
  const letters = await recentMail(folder, memberNames(team), NEWEST_MAIL);
  const members = team.members.map((member): MemberView => {
    const state = presenceOf(member.name);
    const task = tasks.find((one) => one.status === "in_progress" && one.owner === member.name);
    return {
      name: member.name,
      state: stateOf(member, state),
      ...(state?.detail ? { detail: state.detail } : {}),
      ...(member.process && isAlive(member.process) ? { pid: member.process.pid } : {}),
      ...(task ? { task: task.id } : {}),
      branch: member.branch,
      worktree: member.worktreePath,
      backendType: member.backendType,
      ...(member.paneId ? { paneId: member.paneId } : {}),
      epoch: member.epoch,
      permissionMode: member.permissionMode,
      baseCommit: member.baseCommit,
      ...(member.ports ? { ports: member.ports } : {}),
      unread: boxes[member.name]?.count ?? 0,
      ...oldestUnread(boxes[member.name]),
      ...spentField(state?.spent),
    };
  });
  return {
    team: team.name,
    goal: team.goal,
    state: lead?.status ?? "starting",
    ...(lead?.detail ? { detail: lead.detail } : {}),
    ...(team.lead ? { lead: { pid: team.lead.process.pid, alive: isAlive(team.lead.process), ...spentField(lead?.spent) } } : {}),
    ...(team.backend ? { backend: team.backend } : {}),
    baseBranch: team.baseBranch,
    baseCommit: team.baseCommit,
    ...(team.check ? { check: team.check } : {}),
    ...(presence.some((state) => state.spent) ? { spent: totalSpent(presence) } : {}),
    ...(team.maxCost === undefined ? {} : { maxCost: team.maxCost }),
    members,
    tasks: tasks.map(({ claim: _claim, revision: _revision, ...task }) => ({
      ...task,
      waitsFor: task.status === "pending" ? unfinishedBlockers({ ...task, revision: 0 }, tasks).map((one) => one.id) : [],
    })),
    mail: letters.map(({ isRead, ...letter }) => ({
      ...letter,
      state: isRead ? "read" : runs(presenceOf(letter.to)) ? "delivered" : "sent",
    })),
  };
}

/** Where its record can't be read, the roster still tells whether it was stopped, or died. */
export function stateOf(member: TeamConfig["members"][number] | undefined, presence: AgentState | undefined): MemberStatus {
  if (presence) return presence.status;
  if (member?.stoppedAt !== undefined) return "stopped";
  return member?.process && !isAlive(member.process) ? "dead" : "starting";
}

function runs(state: AgentState | undefined): boolean {
  return state !== undefined && state.status !== "stopped" && state.status !== "failed" && state.status !== "dead";
}

/** With what each member has changed, asked of git now. */
export async function teamStatusWithFiles(folder: string): Promise<TeamStatus> {
  const [status, { team }] = await Promise.all([teamStatus(folder), readTeam(folder)]);
  const files = await changedNow(team);
  return {
    ...status,
    members: status.members.map((member) => ({ ...member, files: files.find(({ name }) => name === member.name)?.files ?? [] })),
    overlaps: overlapsOf(files),
  };
}

/** Without git there is a status all the same. */
async function changedNow(team: TeamConfig): Promise<Awaited<ReturnType<typeof filesOfMembers>>> {
  return filesOfMembers(team).catch((error: unknown) => {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  });
}

/** By everyone who is or was in the team. */
export function totalSpent(states: readonly AgentState[]): Spent {
  return states.reduce((sum, { spent = NOTHING_SPENT }) => addSpent(sum, spent), NOTHING_SPENT);
}

export function statusText(status: TeamStatus): string {
  const width = Math.max(4, ...status.members.map((member) => member.name.length));
  const lines = [
    `${status.team}: ${status.goal.split("\n")[0]?.slice(0, 100) ?? ""}`,
    `lead ${status.state}${status.detail ? ` (${status.detail})` : ""}; backend ${status.backend?.kind ?? "?"} (${status.backend?.reason ?? ""}); base ${status.baseBranch} ${status.baseCommit.slice(0, 8)}${status.lead?.spent ? `; ${spentText(status.lead.spent)}` : ""}`,
    ...status.members.map((member) => {
      const parts = [
        member.state + (member.detail ? ` (${member.detail})` : ""),
        member.task ? `task ${member.task}` : "",
        member.pid ? `pid ${member.pid}` : "",
        member.unread > 0 ? unreadText(member.unread, member.oldestUnreadAt) : "",
        member.spent ? spentText(member.spent) : "",
      ];
      return `  ${member.name.padEnd(width)}  ${parts.filter((part) => part !== "").join(", ")}  ${member.branch}`;
    }),
    ...overlapLines(status.overlaps ?? []).map((line) => `  ! ${line}`),
    ...status.tasks.map((task) => {
      const waits = task.waitsFor.length > 0 ? ` waits for ${task.waitsFor.join(", ")}` : "";
      const cost = task.spent ? `; ${spentText(task.spent)}` : "";
      return `  ${taskMark(task.status)} ${task.id} ${task.subject}${task.owner ? ` (${task.owner})` : ""}${waits}${cost}`;
    }),
    ...status.mail.slice(-SHOWN_MAIL).map((one) => `  ✉ ${one.from} → ${one.to} ${one.at.slice(11, 19)} ${one.state}: ${one.summary}`),
    ...(status.spent ? [`total ${spentText(status.spent)}${status.maxCost === undefined ? "" : ` of at most $${status.maxCost}`}`] : []),
  ];
  return lines.join("\n");
}

function oldestUnread(waiting: Waiting | undefined): { oldestUnreadAt?: string } {
  return waiting?.oldestAt === undefined ? {} : { oldestUnreadAt: waiting.oldestAt };
}

function spentField(spent: Spent | undefined): { spent?: Spent } {
  return spent ? { spent } : {};
}

/** One sign for a task's state, in text and on the page. */
export function taskMark(status: TeamTask["status"]): string {
  switch (status) {
    case "pending":
      return "○";
    case "in_progress":
      return "◐";
    case "completed":
      return "●";
    case "failed":
      return "✕";
    case "cancelled":
      return "–";
  }
}
