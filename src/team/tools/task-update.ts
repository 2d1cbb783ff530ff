import * as z from "zod";
import { isAlive as isProcessAlive } from "../../platform/process.ts";
import { defineTool } from "../../protocol/define-tool.ts";
import { RevisionConflict } from "../../protocol/errors.ts";
import { addSpent, NOTHING_SPENT, type Spent } from "../../protocol/model.ts";
import {
  type Presence,
  type ProcessIdentity,
  type Roster,
  TASK_STATUSES,
  type TaskList,
  type TaskPatch,
  type TeamMessage,
  type TeamTask,
} from "../../protocol/team.ts";
import { errorResult, type Tool, type ToolResult, textResult } from "../../protocol/tool.ts";
import { claimable, claimPatch, TaskRuleError } from "../task-rules.ts";
import { type KnownMember, planUpdate, type TaskUpdateInput, type UpdatePlan } from "./task-update-plan.ts";
import { taskJob, taskLine, taskText } from "./task-view.ts";

const schema = z.strictObject({
  taskId: z.string(),
  status: z.enum(TASK_STATUSES).optional(),
  owner: z.string().optional().describe('A member\'s name; your own to take the task, "" to give it back.'),
  subject: z.string().min(1).optional(),
  description: z.string().optional(),
  addBlocks: z.array(z.string()).optional().describe("Ids of tasks that can't begin before this one is completed."),
  addBlockedBy: z.array(z.string()).optional().describe("Ids of tasks that must be completed before this one can begin."),
  check: z.string().optional().describe("A shell command that must exit 0 before the task counts as completed."),
  note: z.string().optional().describe("Added to the task's notes: a result, a reason, what the next owner must know."),
  noChange: z.boolean().optional().describe("With completed: nothing had to be changed. The note says why."),
});

/** `commit`: the member's commit that holds the work; absent when nothing was committed since the claim. `spent`: since the claim. */
export type Completion = { ok: true; commit?: string; spent?: Spent } | { ok: false; reason: string };

type Proven = Extract<Completion, { ok: true }>;

export type TaskUpdateOptions = {
  tasks: TaskList;
  self: string;
  role: "lead" | "teammate";
  process: ProcessIdentity;
  /** Absent in a plain session: owners are then not checked against a roster. */
  team?: { roster: Roster; presence: Presence };
  /** Tells a member of a task that the lead gave it; when it rejects, the assignment is taken back. */
  notifyAssignment?: (to: string, task: TeamTask) => Promise<unknown>;
  /** Commits and runs the check. Without it nothing counts as committed in a team, and a plain session needs no proof. */
  beforeComplete?: (task: TeamTask) => Promise<Completion>;
  /** Asked last, when the work is proven: a reason why the task must not count as completed, or undefined. */
  mayComplete?: ((task: TeamTask) => Promise<string | undefined>) | undefined;
  onChange?: (task: TeamTask, before: TeamTask) => void | Promise<void>;
  isAlive?: (identity: ProcessIdentity) => boolean;
};

export function taskUpdateTool(options: TaskUpdateOptions): Tool {
  const claims: Claims = new Map();
  return defineTool({
    name: "TaskUpdate",
    description: [
      "Changes a task of the shared list: take it, finish it, give it back, assign it, describe it better, say what must come first.",
      "Take a task with your own name as owner and status in_progress, before you begin. Only one member gets it: if the answer says it is owned by another, choose another task.",
      "Set completed once the work is whole. Your changes are then committed and the task's check is run; if it fails, the task stays in progress and you get the output. If nothing had to be changed, say noChange: true with a note that tells why.",
      'Can\'t finish? status failed with a note, or owner "" to give it back for others, with a note of what is there already.',
      "addBlockedBy and addBlocks set the order; a blocked task can't be taken. Circles are refused, and then nothing of the call is written.",
      "The lead assigns with owner: the member is told by itself, no message is needed. What another member has in progress is not for you to change: write to that member.",
      "Answers with the task's line as TaskList shows it; who takes a task gets its description, check and notes with it.",
      "The calls of one turn run in their order: finish a task, take the next and read its files in one turn.",
    ].join("\n"),
    schema,
    access: (input) => ({ kind: "other", subject: input.taskId }),
    async run(input) {
      try {
        return await update(input, options, claims);
      } catch (error) {
        if (error instanceof TaskRuleError) return errorResult(error.message);
        throw error;
      }
    },
  });
}

/** What the lead's assignment says to the member. */
export function assignmentMessage(task: TeamTask): TeamMessage {
  const text = [`Task ${task.id} is yours: ${task.subject}`, ...taskJob(task)].join("\n");
  return { type: "task_assignment", summary: `Task ${task.id}: ${task.subject}`, text, taskId: task.id };
}

/** By task id, the epoch of the claim that this agent made. */
type Claims = Map<string, number>;

async function update(input: TaskUpdateInput, options: TaskUpdateOptions, claims: Claims): Promise<ToolResult> {
  if (input.noChange && !input.note?.trim()) throw new TaskRuleError("noChange needs a note that says why nothing had to be changed.");
  let completion: Proven | undefined;
  let first: TeamTask | undefined;
  for (;;) {
    const { task, all } = await find(options.tasks, input.taskId);
    first ??= task;
    checkOwnClaim(task, input, options, claims);
    const plan = planUpdate(input, task, all, await updater(options));
    refuseLostWrite(first, task, plan.patch);
    try {
      if (plan.mustClaim) {
        await write(task, claimPatch(task, options.self, options.process), options, claims);
        first = undefined;
        continue;
      }
      if (input.status === "completed" && task.status !== "completed") {
        // Once a call: a conflict over another field does not run the check again.
        const proven: Proven = completion ?? (await proof(input, task, options));
        completion = proven;
        Object.assign(plan.patch, completed(input, task, proven));
      }
      const written = Object.keys(plan.patch).length > 0 ? await write(task, plan.patch, options, claims) : task;
      await tellNewOwner(task, written, options);
      await writeEdges(plan, task.id, options, claims);
      return await answer(task, written, plan, options);
    } catch (error) {
      // Someone wrote first: look again at what the task is now.
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
}

async function find(tasks: TaskList, id: string): Promise<{ task: TeamTask; all: TeamTask[] }> {
  const all = await tasks.list();
  const task = all.find((one) => one.id === id);
  if (!task) throw new TaskRuleError(`There is no task ${id}. Tasks: ${all.map((one) => one.id).join(", ") || "none yet"}.`);
  return { task, all };
}

async function updater(options: TaskUpdateOptions) {
  const { self, role, process, team, isAlive = isProcessAlive } = options;
  return { self, role, process, isAlive, members: team && (await knownMembers(team.roster, team.presence)) };
}

async function knownMembers(roster: Roster, presence: Presence): Promise<KnownMember[]> {
  const states = await presence.list();
  const gone = new Set(states.filter((one) => ["stopped", "failed", "dead"].includes(one.status)).map((one) => one.name));
  return (await roster.read()).members.map(({ name, agentId, process }) => ({
    name,
    agentId,
    isGone: gone.has(name),
    ...(process ? { process } : {}),
  }));
}

/** A claim of this agent that someone took over is lost, even if the task is by chance this member's again. */
function checkOwnClaim(task: TeamTask, input: TaskUpdateInput, { self }: TaskUpdateOptions, claims: Claims): void {
  const own = claims.get(task.id);
  if (own === undefined || input.status !== "completed" || task.status === "completed") return;
  if (task.status === "in_progress" && task.claim?.epoch === own) return;
  claims.delete(task.id);
  const now = task.status === "in_progress" ? `now in progress by ${task.claim?.owner}` : `now ${task.status}`;
  throw new TaskRuleError(
    `Your claim on task ${task.id} was taken away; it is ${now}. This completion does not count. ${self} can claim it again if it is free.`,
  );
}

/** Words that someone else changed since this call began are not overwritten unseen. */
function refuseLostWrite(first: TeamTask, now: TeamTask, patch: TaskPatch): void {
  for (const field of ["subject", "description", "check"] as const) {
    if (field in patch && first[field] !== now[field]) {
      throw new TaskRuleError(`The ${field} of task ${now.id} was changed by someone else meanwhile. Read it again with TaskGet.`);
    }
  }
}

async function proof(input: TaskUpdateInput, task: TeamTask, options: TaskUpdateOptions): Promise<Proven> {
  const proven = await provenWork(input, task, options);
  const refusal = await options.mayComplete?.(task);
  if (refusal !== undefined) throw new TaskRuleError(`Task ${task.id} is not completed: a hook refused it. ${refusal}`);
  return proven;
}

async function provenWork(input: TaskUpdateInput, task: TeamTask, { beforeComplete, team }: TaskUpdateOptions): Promise<Proven> {
  if (!beforeComplete && !team) return { ok: true };
  if (!beforeComplete && task.check)
    throw new TaskRuleError(`Task ${task.id} has a check: only the member who does the work can complete it.`);
  const result: Completion = beforeComplete ? await beforeComplete(task) : { ok: true };
  if (!result.ok) throw new TaskRuleError(`Task ${task.id} is not completed: ${result.reason}`);
  if (result.commit === undefined && !input.noChange) {
    throw new TaskRuleError(
      `Task ${task.id} is not completed: there is no commit and no changed file since it was claimed. If nothing had to be changed, say noChange: true with a note that tells why.`,
    );
  }
  return result;
}

function completed(input: TaskUpdateInput, task: TeamTask, { commit, spent }: Proven): TaskPatch {
  const how: TaskPatch = commit === undefined ? (input.noChange ? { noChange: true } : {}) : { commit };
  const cost = spent === undefined ? {} : { spent: addSpent(task.spent ?? NOTHING_SPENT, spent) };
  return { status: "completed", claim: task.claim, ...how, ...cost };
}

async function write(task: TeamTask, patch: TaskPatch, options: TaskUpdateOptions, claims: Claims): Promise<TeamTask> {
  const written = await options.tasks.update(task.id, task.revision, patch);
  if (written.status === "in_progress" && written.claim?.owner === options.self) claims.set(task.id, written.claim.epoch);
  if (written.status !== "in_progress") claims.delete(task.id);
  await options.onChange?.(written, task);
  return written;
}

async function writeEdges(plan: UpdatePlan, blocker: string, options: TaskUpdateOptions, claims: Claims): Promise<void> {
  for (const { id } of plan.edges) {
    for (;;) {
      const { task } = await find(options.tasks, id);
      if (task.blockedBy.includes(blocker)) break;
      try {
        await write(task, { blockedBy: [...task.blockedBy, blocker] }, options, claims);
        break;
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error;
      }
    }
  }
}

async function tellNewOwner(before: TeamTask, written: TeamTask, options: TaskUpdateOptions): Promise<void> {
  const { owner } = written;
  if (options.role !== "lead" || !options.notifyAssignment) return;
  if (owner === undefined || owner === options.self || owner === before.owner) return;
  try {
    await options.notifyAssignment(owner, written);
  } catch (error) {
    // An owner who does not know of it would never begin.
    await options.tasks.update(written.id, written.revision, { status: "pending", owner: undefined, claim: undefined });
    const reason = error instanceof Error ? error.message : String(error);
    throw new TaskRuleError(`Task ${written.id} was not assigned: ${owner} could not be told (${reason}).`);
  }
}

async function answer(
  before: TeamTask,
  written: TeamTask,
  plan: UpdatePlan,
  { tasks, self, role }: TaskUpdateOptions,
): Promise<ToolResult> {
  const all = await tasks.list();
  const changed = Object.keys(plan.patch).length > 0 || plan.edges.length > 0;
  const next = written.status === "completed" && role === "teammate" ? [freeText(all, self)] : [];
  const isTaken = written.claim?.owner === self && written.claim.epoch !== before.claim?.epoch;
  const job = isTaken && written.status === "in_progress" ? taskJob(written) : [];
  const notes = [...(changed ? [] : ["Nothing changed: it was so already."]), ...(plan.remark ? [plan.remark] : []), ...next];
  return textResult([taskLine(written, all), ...job, ...notes].join("\n"), {
    type: "text",
    text: [taskText(written), ...notes].join("\n"),
  });
}

/** So that who has finished a task need not ask for the list to know whether there is another. */
function freeText(all: readonly TeamTask[], self: string): string {
  const free = claimable(all, self).map((task) => task.id);
  return free.length > 0 ? `Free to claim now: ${free.join(", ")}.` : "Nothing is free to claim now.";
}
