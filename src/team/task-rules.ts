import type { ProcessIdentity, TaskPatch, TeamTask } from "../protocol/team.ts";

/** A change of a task that can't be; the text is for the model that asked for it. Nothing was written. */
export class TaskRuleError extends Error {
  override readonly name = "TaskRuleError";
}

type Status = TeamTask["status"];

/** What a status may become. A claim may be made anew by the same owner (a revived process), hence in_progress twice. */
const NEXT: Record<Status, readonly Status[]> = {
  pending: ["pending", "in_progress", "failed", "cancelled"],
  in_progress: ["in_progress", "pending", "completed", "failed", "cancelled"],
  completed: ["completed", "pending", "failed"],
  failed: ["failed", "pending", "in_progress", "cancelled"],
  cancelled: ["cancelled", "pending"],
};

export type TaskFacts = { all: readonly TeamTask[]; isAlive(identity: ProcessIdentity): boolean };

/**
 * The one place that says which change is allowed, for every bus and tool. Returns the task as it would be, one revision on.
 * The revision decides between two who ask at once; this decides what may be asked.
 */
export function changedTask(task: TeamTask, patch: TaskPatch, facts: TaskFacts): TeamTask {
  const next = patched(task, patch);
  if (next.subject === "") throw new TaskRuleError(`Task ${task.id} needs a subject.`);
  if (next.key !== task.key) throw new TaskRuleError(`The key of task ${task.id} can't be changed.`);
  if (!NEXT[task.status].includes(next.status)) throw new TaskRuleError(refusedStep(task, next.status));
  checkEdges(next.id, next.blockedBy, facts.all);
  const blockers = unfinishedBlockers(next, facts.all);
  const begins = next.status === "in_progress" && (task.status !== "in_progress" || patch.claim !== undefined);
  if (blockers.length > 0 && (begins || (next.status === "completed" && task.status !== "completed"))) {
    throw new TaskRuleError(`Task ${task.id} is blocked by ${described(blockers)}. It can be worked on once that is completed.`);
  }
  if (begins) checkClaim(task, next, facts);
  if (next.status === "in_progress" && next.claim?.owner !== next.owner) {
    throw new TaskRuleError(`Task ${task.id} is in progress only with its owner's claim.`);
  }
  if (next.status === "completed" && task.status === "in_progress") checkFence(task, patch);
  if (next.status === "pending") delete next.claim;
  return next;
}

export function newTask(
  id: string,
  task: Pick<TeamTask, "subject" | "description" | "blockedBy" | "check" | "key">,
  all: readonly TeamTask[],
): TeamTask {
  const { description, blockedBy, check, key } = task;
  checkEdges(undefined, blockedBy, all);
  return withoutUndefined({
    id,
    revision: 1,
    subject: oneLine(task.subject),
    description,
    status: "pending",
    blockedBy: [...new Set(blockedBy)],
    check,
    key,
    attempts: 1,
  });
}

/** The patch by which `owner` takes a task; its epoch is the revision that it makes. */
export function claimPatch(task: TeamTask, owner: string, process: ProcessIdentity): TaskPatch {
  return { status: "in_progress", owner, claim: { ...process, owner, epoch: task.revision + 1 } };
}

/** The tasks that must be completed before this one can begin. A cancelled one holds nothing up. */
export function unfinishedBlockers(task: TeamTask, all: readonly TeamTask[]): TeamTask[] {
  return all.filter((other) => task.blockedBy.includes(other.id) && other.status !== "completed" && other.status !== "cancelled");
}

/** Pending, nobody's (or `self`'s), and nothing before it: a member may take it. */
export function claimable(all: readonly TeamTask[], self?: string): TeamTask[] {
  const isFree = ({ status, owner }: TeamTask) => status === "pending" && (owner === undefined || owner === self);
  return all.filter((task) => isFree(task) && unfinishedBlockers(task, all).length === 0);
}

/** `id` is undefined for a task that is not made yet. Throws for an edge to nowhere, to itself, or one that closes a circle. */
export function checkEdges(id: string | undefined, blockedBy: readonly string[], all: readonly TeamTask[]): void {
  for (const blocker of blockedBy) {
    if (blocker === id) throw new TaskRuleError(`Task ${id} can't be blocked by itself.`);
    if (!all.some((task) => task.id === blocker)) throw new TaskRuleError(`There is no task ${blocker} that could block another.`);
  }
  if (id === undefined) return;
  const circle = circleThrough(id, blockedBy, all);
  if (circle) throw new TaskRuleError(`That would be a circle: ${circle.join(" waits for ")}.`);
}

function circleThrough(id: string, blockedBy: readonly string[], all: readonly TeamTask[]): string[] | undefined {
  const edges = new Map(all.map((task) => [task.id, task.blockedBy]));
  edges.set(id, [...blockedBy]);
  const seen = new Set<string>();
  const walk = (at: string, path: string[]): string[] | undefined => {
    for (const next of edges.get(at) ?? []) {
      if (next === id) return [...path, at, id];
      if (seen.has(next)) continue;
      seen.add(next);
      const found = walk(next, [...path, at]);
      if (found) return found;
    }
    return undefined;
  };
  return walk(id, []);
}

function checkClaim(task: TeamTask, next: TeamTask, facts: TaskFacts): void {
  const claim = next.claim;
  if (!claim) throw new TaskRuleError(`Task ${task.id} is in progress only with its owner's claim.`);
  if (claim.epoch !== next.revision) throw new TaskRuleError(`The claim on task ${task.id} was made for another revision. Read it again.`);
  const held = task.claim;
  const isOwn = held?.owner === claim.owner && held.pid === claim.pid && held.startedAt === claim.startedAt && held.host === claim.host;
  if (task.status === "in_progress" && held && !isOwn && facts.isAlive(held)) {
    throw new TaskRuleError(`Task ${task.id} is owned by ${held.owner}.`);
  }
}

/** A completion carries the claim it was made under: one that was taken over meanwhile is refused. */
function checkFence(task: TeamTask, patch: TaskPatch): void {
  const held = task.claim;
  const shown = patch.claim;
  if (!held || !shown) throw new TaskRuleError(`Task ${task.id} is completed only by the claim on it.`);
  if (held.epoch === shown.epoch && held.owner === shown.owner) return;
  throw new TaskRuleError(
    `Task ${task.id} was taken over by ${held.owner} (claim ${held.epoch}; yours was ${shown.epoch}). Your completion does not count.`,
  );
}

function refusedStep(task: TeamTask, to: Status): string {
  if (to === "completed") return `Task ${task.id} is ${task.status}. Claim it first: owner yourself, status in_progress.`;
  return `Task ${task.id} is ${task.status} and can't become ${to}. From here it can become: ${NEXT[task.status].filter((status) => status !== task.status).join(", ")}.`;
}

function described(tasks: readonly TeamTask[]): string {
  return tasks.map((task) => `task ${task.id} (${task.status}${task.owner ? `, ${task.owner}` : ""})`).join(", ");
}

/** It stands in lists, where a second line would pass for another entry. */
function oneLine(subject: string): string {
  return subject.replaceAll(/\s+/g, " ").trim();
}

/** `undefined` clears a field that may be missing and leaves one that may not. */
function patched(task: TeamTask, patch: TaskPatch): TeamTask {
  return withoutUndefined({
    ...task,
    ...patch,
    id: task.id,
    revision: task.revision + 1,
    subject: oneLine(patch.subject ?? task.subject),
    description: patch.description ?? task.description,
    status: patch.status ?? task.status,
    blockedBy: patch.blockedBy ?? task.blockedBy,
    attempts: patch.attempts ?? task.attempts,
  });
}

function withoutUndefined(task: TeamTask): TeamTask {
  const copy = { ...task };
  if (copy.owner === undefined) delete copy.owner;
  if (copy.check === undefined) delete copy.check;
  if (copy.key === undefined) delete copy.key;
  if (copy.commit === undefined) delete copy.commit;
  if (copy.noChange === undefined) delete copy.noChange;
  if (copy.note === undefined) delete copy.note;
  if (copy.spent === undefined) delete copy.spent;
  if (copy.claim === undefined) delete copy.claim;
  return copy;
}
