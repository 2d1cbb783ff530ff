import type { AgentEvent } from "./agent.ts";
import type { Spent } from "./model.ts";
import type { PermissionMode, PermissionRequest } from "./permission.ts";

export const LEAD = "lead";
/** Merges in the lead's name; in no roster. */
export const INTEGRATOR = "integrator";
export const BACKEND_KINDS = ["tmux", "iterm2", "command", "process", "in-process"] as const;
export type BackendKind = (typeof BACKEND_KINDS)[number];
export const PLAN_APPROVERS = ["lead", "me"] as const;
/** `me`: the person at the lead's terminal. */
export type PlanApprover = (typeof PLAN_APPROVERS)[number];
/**
 * pid and start time together name a process; `startedAt` is what `processStart(pid)` of platform/process.ts gives. `host` only on a bus
 * that serves several machines: on another one a pid says nothing.
 */
export type ProcessIdentity = { pid: number; startedAt: string; host?: string };

/** Ports that this worktree alone may use. */
export type PortBlock = { first: number; size: number };

export type TeammateInfo = {
  name: string;
  agentId: string;
  agentType: string;
  model?: string;
  worktreePath: string;
  branch: string;
  baseCommit: string;
  ports?: PortBlock;
  backendType: BackendKind;
  paneId?: string;
  process?: ProcessIdentity;
  /** Counts the member's starts; from 1. */
  epoch: number;
  /** undefined or true = active, false = idle. What was last announced; presence is what is true now. */
  isActive?: boolean;
  stoppedAt?: string;
  /** It changes nothing before its plan is approved. */
  planModeRequired: boolean;
  planApproved?: true;
  /** `plan` with `planModeRequired`: the lead's, once the plan is approved. */
  permissionMode: PermissionMode;
};

export type TeamConfig = {
  version: 1;
  revision: number;
  name: string;
  goal: string;
  leadAgentId: string;
  repoRoot: string;
  baseBranch: string;
  baseCommit: string;
  check?: string;
  /** The lead is not among them. */
  members: TeammateInfo[];
  /** What a member that starts or resumes later needs to know of how the team was started. */
  lead?: {
    process: ProcessIdentity;
    permissionMode: PermissionMode;
    model?: string;
    /** Id of the session out of whose conversation the team grew, and in whose process its lead is. */
    session?: string;
  };
  backend?: { kind: BackendKind; reason: string };
  merge?: boolean;
  /** Every member plans first; who approves the plans. */
  plan?: PlanApprover;
  /** US dollars that all agents of the team together may cost. */
  maxCost?: number;
};

export type TeamMessage =
  /** `interrupt`, of the lead alone: the reader's turn ends, and this is what it reads next. */
  | { type: "task_assignment" | "message" | "status_update"; summary: string; text: string; taskId?: string; interrupt?: true }
  | { type: "idle_notification"; reason: "done" | "waiting" | "blocked" | "failed"; lastText: string; commits: string[] }
  | { type: "plan_approval_request" | "shutdown_request"; text: string }
  | { type: "permission_request"; request: PermissionRequest; reason: string; alwaysRule?: string }
  /** The question of this id was answered in the teammate's own pane. */
  | { type: "permission_settled"; requestId: string }
  | {
      type: "plan_approval_response" | "shutdown_response" | "permission_response";
      requestId: string;
      approve: boolean;
      feedback?: string;
    };

/** A receiver orders by (epoch, seq) per sender and skips an id that its session has. `requestId` of a reply is the id of the request. */
export type Envelope = {
  version: 1;
  /** `<from>.<epoch>.<seq>` */
  id: string;
  epoch: number;
  seq: number;
  from: string;
  to: string;
  at: string;
  body: TeamMessage;
  mac?: string;
};

/** What lies in a box and is not acknowledged. `waking` leaves out news, which an idle member does not read. */
export type Waiting = { count: number; waking: number; oldestAt?: string };

export interface Mailbox {
  /** Resolves with the envelope's id once it is in the reader's folder; rejects on an unknown name. */
  send(to: string, body: TeamMessage): Promise<string>;
  /** At least once: an envelope comes again until it is acknowledged. */
  unread(): Promise<Envelope[]>;
  acknowledge(ids: readonly string[]): Promise<void>;
  /** A look at any member's box. */
  waitingFor(name: string): Promise<Waiting>;
  /** Resolves when something may have come; at once when there is mail that `unread` has not handed out yet. Rejects when aborted. */
  arrival(signal: AbortSignal): Promise<void>;
}

export const TASK_STATUSES = ["pending", "in_progress", "completed", "failed", "cancelled"] as const;
export type TeamTask = {
  id: string;
  revision: number;
  subject: string;
  description: string;
  status: (typeof TASK_STATUSES)[number];
  owner?: string;
  blockedBy: string[];
  check?: string;
  key?: string;
  /** The attempt it is in, from 1. */
  attempts: number;
  commit?: string;
  noChange?: true;
  note?: string;
  /** By its owner from claim to completion, that of earlier completions included. */
  spent?: Spent;
  /** `epoch` is the revision at which it was claimed: a completion with an older one is refused. */
  claim?: ProcessIdentity & { owner: string; epoch: number };
};

/** `undefined` in a patch clears the field. */
export type TaskPatch = { [Key in keyof Omit<TeamTask, "id" | "revision">]?: TeamTask[Key] | undefined };

export interface TaskList {
  /** The same `key` twice gives the task that is there. Ids are "1", "2", ... and never come again. */
  create(task: Pick<TeamTask, "subject" | "description" | "blockedBy" | "check" | "key">): Promise<TeamTask>;
  get(id: string): Promise<TeamTask | undefined>;
  list(): Promise<TeamTask[]>;
  /** Throws RevisionConflict when someone else changed the task first: two can't claim one task. */
  update(id: string, revision: number, patch: TaskPatch): Promise<TeamTask>;
}

export type MemberStatus = "starting" | "busy" | "waiting" | "idle" | "stopped" | "failed" | "dead" | "unreachable";
/** `spent`: of all its runs; the lead's holds what its integrators took. */
export type AgentState = { name: string; status: MemberStatus; detail?: string; at: string; spent?: Spent };
export interface Presence {
  /** Replaces the member's record, in the order of the calls; without `spent`, what was said of that stays. */
  beat(state: AgentState): Promise<void>;
  /** What each member last said, corrected by what is true: a process that is gone is `dead`. */
  list(): Promise<AgentState[]>;
}
export interface Roster {
  read(): Promise<TeamConfig>;
  /** Runs `change` again on a conflict, so it must be free of side effects. */
  update(change: (team: TeamConfig) => TeamConfig): Promise<TeamConfig>;
}
/** All that teammates share. */
export interface TeamBus extends AsyncDisposable {
  readonly roster: Roster;
  readonly mailbox: Mailbox;
  readonly tasks: TaskList;
  readonly presence: Presence;
}

export interface PaneBackend {
  readonly kind: BackendKind;
  /** Resolves when the worker has reported ready; rejects with its exit status and last lines otherwise. */
  spawn(teammate: TeammateInfo, command: readonly string[], bootFile: string): Promise<string>;
  state(paneId: string): Promise<{ alive: true } | { alive: false; status?: number; signal?: number }>;
  /** The whole process group, then the pane; verified. */
  kill(paneId: string): Promise<void>;
}

/** Steps of a team beside the events of its agents. */
export type TeamStep =
  | { type: "backend"; kind: BackendKind; reason: string }
  | { type: "spawned"; name: string; branch: string; paneId?: string }
  | { type: "ready"; name: string; pid: number }
  | { type: "joined"; name: string; pid: number }
  | { type: "message"; from: string; to: string; summary: string; kind: TeamMessage["type"] }
  | { type: "task"; id: string; status: TeamTask["status"]; owner?: string; subject: string }
  | { type: "mail_rejected"; name: string; file: string; reason: string; from?: string }
  | { type: "idle"; name: string; reason: string }
  | { type: "dead"; name: string; how: string }
  /** Before a branch is merged: what of it can run, or instruct an agent, by being merged, built or opened. */
  | { type: "executable"; name: string; branch: string; files: readonly string[] }
  /** `choices`: files of which a whole side was taken, as `FILE: SIDE`. */
  | {
      type: "merge";
      name: string;
      branch: string;
      commit?: string;
      choices?: readonly string[];
      conflict?: readonly string[];
      refused?: string;
    }
  | { type: "gate"; command: string; ok: boolean; output: string }
  | { type: "landed"; branch: string; commit: string }
  /** Of one run of the team; a resumed one has several. `text` says how to go on. */
  | { type: "ended"; exitCode: number; text: string }
  | { type: "cleaned"; removed: readonly string[]; kept: readonly string[] };
/** One line of a team's log.jsonl. */
export type TeamEvent = { at: string; agent: string; event: AgentEvent | TeamStep };
