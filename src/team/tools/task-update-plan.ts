import { LEAD, type ProcessIdentity, type TaskPatch, type TeamTask } from "../../protocol/team.ts";
import { changedTask, checkEdges, claimPatch, TaskRuleError } from "../task-rules.ts";

export type TaskUpdateInput = {
  taskId: string;
  status?: TeamTask["status"] | undefined;
  owner?: string | undefined;
  subject?: string | undefined;
  description?: string | undefined;
  addBlocks?: string[] | undefined;
  addBlockedBy?: string[] | undefined;
  check?: string | undefined;
  note?: string | undefined;
  noChange?: boolean | undefined;
};

/** `isGone`: its process ended, or it stopped or failed. A member that has not started yet is not gone. */
export type KnownMember = { name: string; agentId: string; process?: ProcessIdentity; isGone: boolean };
export type Updater = {
  self: string;
  role: "lead" | "teammate";
  process: ProcessIdentity;
  /** Undefined where there is no team: then any owner goes. */
  members: readonly KnownMember[] | undefined;
  isAlive(identity: ProcessIdentity): boolean;
};

/**
 * `edges` are other tasks that begin to wait for this one. `mustClaim`: a completion of something that is not claimed by this
 * process yet; `patch` is then the claim, and the completion comes after it.
 */
export type UpdatePlan = { patch: TaskPatch; edges: { id: string; blockedBy: string[] }[]; mustClaim: boolean; remark?: string };

/** What a call of TaskUpdate would write, everything checked; throws TaskRuleError with the reason. */
export function planUpdate(input: TaskUpdateInput, task: TeamTask, all: readonly TeamTask[], who: Updater): UpdatePlan {
  checkRights(input, task, all, who);
  const edges = newEdges(input, task, all);
  const status = input.status === "completed" ? planCompletion(task, who) : planStatus(input, task, who);
  const patch: TaskPatch = { ...fields(input, task), ...status.patch };
  const withEdges = all.map((one) => ({ ...one, blockedBy: edges.find((edge) => edge.id === one.id)?.blockedBy ?? one.blockedBy }));
  const blockedBy = union(task.blockedBy, input.addBlockedBy ?? []);
  if (blockedBy.length > task.blockedBy.length) patch.blockedBy = blockedBy;
  const completes = input.status === "completed" && task.status === "in_progress" && !status.mustClaim;
  const tried: TaskPatch = completes ? { ...patch, status: "completed", claim: task.claim } : patch;
  const next = changedTask(task, tried, { all: withEdges, isAlive: who.isAlive });
  const after = withEdges.map((one) => (one.id === next.id ? next : one));
  for (const edge of edges) checkEdges(edge.id, edge.blockedBy, after);
  return {
    patch: changedFields(task, patch),
    edges,
    mustClaim: status.mustClaim ?? false,
    ...(status.remark ? { remark: status.remark } : {}),
  };
}

/** The living member that has the task, if it is not `self`. */
function otherOwner(task: TeamTask, who: Updater): string | undefined {
  if (task.status === "in_progress" && task.claim) {
    return task.claim.owner !== who.self && who.isAlive(task.claim) ? task.claim.owner : undefined;
  }
  if (task.status !== "pending" || task.owner === undefined || task.owner === who.self) return undefined;
  return who.members?.find((member) => member.name === task.owner)?.isGone ? undefined : task.owner;
}

function checkRights(input: TaskUpdateInput, task: TeamTask, all: readonly TeamTask[], who: Updater): void {
  if (who.role === "lead") return;
  const other = otherOwner(task, who);
  if (other && task.status === "in_progress") {
    const isTake = input.status === "in_progress" || input.status === "completed" || input.owner !== undefined;
    throw new TaskRuleError(
      isTake ? `Task ${task.id} is owned by ${other}.` : `Task ${task.id} is in progress by ${other}: write to ${other} instead.`,
    );
  }
  if (other && (input.status !== undefined || input.owner !== undefined)) throw new TaskRuleError(`Task ${task.id} is owned by ${other}.`);
  if (input.owner && ownerName(input.owner, who) !== who.self) {
    throw new TaskRuleError(`Only the lead assigns tasks. You can take task ${task.id} yourself: owner "${who.self}", status in_progress.`);
  }
  if (input.check !== undefined && task.check !== undefined && input.check !== task.check) {
    throw new TaskRuleError(`Task ${task.id} has a check already; only the lead may change it.`);
  }
  const reopens = task.status === "completed" || task.status === "cancelled";
  if (reopens && input.status !== undefined && input.status !== task.status) {
    throw new TaskRuleError(`Task ${task.id} is ${task.status}; only the lead may open it again.`);
  }
  for (const id of input.addBlocks ?? []) {
    const blocked = all.find((one) => one.id === id);
    const worker = blocked?.status === "in_progress" ? otherOwner(blocked, who) : undefined;
    if (worker) throw new TaskRuleError(`Task ${id} is in progress by ${worker}: only the lead can make it wait.`);
  }
}

type StatusPlan = { patch: TaskPatch; mustClaim?: boolean; remark?: string };

function planCompletion(task: TeamTask, who: Updater): StatusPlan {
  if (task.status === "completed") return { patch: {} };
  const other = task.status === "in_progress" ? otherOwner(task, who) : undefined;
  if (other)
    throw new TaskRuleError(
      `Task ${task.id} is in progress by ${other}, who alone can complete it. Write to ${other}, or take it away first with owner "".`,
    );
  if (isOwnClaim(task, who)) return { patch: {} };
  return { patch: claimPatch(task, who.self, who.process), mustClaim: true };
}

function planStatus(input: TaskUpdateInput, task: TeamTask, who: Updater): StatusPlan {
  const owner = input.owner ? ownerName(input.owner, who) : input.owner;
  if (owner === "" && input.status === "in_progress") throw new TaskRuleError("A task in progress has an owner.");
  if (owner === "" || (input.status === "pending" && task.status === "in_progress" && owner === undefined)) {
    return { patch: { status: input.status ?? openStatus(task), owner: undefined, claim: undefined, ...takenAway(input, task, who) } };
  }
  if (input.status === "in_progress") return planClaim(owner ?? worker(task, who), task, who);
  if (owner !== undefined) return planAssignment(owner, input, task, who);
  return { patch: input.status === undefined ? {} : { status: input.status } };
}

/** From a living member: the next one is told that there may be work already, as after a death. */
function takenAway({ note }: TaskUpdateInput, task: TeamTask, who: Updater): TaskPatch {
  const from = otherOwner(task, who);
  if (from === undefined || task.status !== "in_progress") return {};
  const said = `Taken from ${from} while in progress (attempt ${task.attempts}); what it did is on its branch.`;
  return { attempts: task.attempts + 1, note: [task.note, said, note].filter((part) => part).join("\n\n") };
}

/** Who works on it when the call names no owner. A team's lead that forgot to say so must not get in the members' way. */
function worker(task: TeamTask, who: Updater): string {
  if (who.role === "teammate" || who.members === undefined) return who.self;
  if (task.owner !== undefined) return task.owner;
  throw new TaskRuleError(`Task ${task.id} has no owner. Say who does it by owner, or leave it pending until a member takes it.`);
}

function planClaim(owner: string, task: TeamTask, who: Updater): StatusPlan {
  refuseOtherOwner(owner, task, who);
  if (owner === who.self) return isOwnClaim(task, who) ? { patch: {} } : { patch: claimPatch(task, owner, who.process) };
  const process = who.members?.find((member) => member.name === owner)?.process;
  if (task.status === "in_progress" && task.claim?.owner === owner && who.isAlive(task.claim)) return { patch: {} };
  if (process && who.isAlive(process)) return { patch: claimPatch(task, owner, process) };
  const patch: TaskPatch = { status: openStatus(task), owner, claim: undefined };
  return { patch, remark: `${owner} is not running: the task waits for ${owner} as pending.` };
}

function planAssignment(owner: string, input: TaskUpdateInput, task: TeamTask, who: Updater): StatusPlan {
  if (task.status === "completed" || task.status === "cancelled") {
    if (input.status === undefined)
      throw new TaskRuleError(`Task ${task.id} is ${task.status}. To have it done again, set status pending too.`);
  }
  refuseOtherOwner(owner, task, who);
  if (task.status === "in_progress" && task.claim?.owner === owner && input.status === undefined) return { patch: {} };
  return { patch: { owner, status: input.status ?? openStatus(task), claim: undefined } };
}

function refuseOtherOwner(owner: string, task: TeamTask, who: Updater): void {
  // Seen from the new owner: also the lead's own claim is in the way of an assignment to someone else.
  const other = otherOwner(task, { ...who, self: owner });
  if (!other) return;
  const how = who.role === "lead" ? ` Set owner "" first if ${other} shall not do it.` : "";
  throw new TaskRuleError(`Task ${task.id} is owned by ${other}.${how}`);
}

function isOwnClaim(task: TeamTask, who: Updater): boolean {
  const claim = task.claim;
  if (task.status !== "in_progress" || !claim) return false;
  return claim.owner === who.self && claim.pid === who.process.pid && claim.startedAt === who.process.startedAt;
}

/** What an unfinished task becomes when its owner changes. */
function openStatus(task: TeamTask): TeamTask["status"] {
  return task.status === "in_progress" || task.status === "failed" ? "pending" : task.status;
}

function ownerName(owner: string, who: Updater): string {
  if (owner === who.self || owner === LEAD || who.members === undefined) return owner;
  const member = who.members.find((one) => one.name === owner || one.agentId === owner);
  if (member) return member.name;
  throw new TaskRuleError(`"${owner}" is not in this team. Members: ${[LEAD, ...who.members.map((one) => one.name)].join(", ")}.`);
}

function fields(input: TaskUpdateInput, task: TeamTask): TaskPatch {
  const patch: TaskPatch = {};
  if (input.subject !== undefined) patch.subject = input.subject;
  if (input.description !== undefined) patch.description = input.description;
  if (input.check !== undefined) patch.check = input.check === "" ? undefined : input.check;
  // Notes add up, for the next owner; the same call again does not add its note twice.
  const isNew = input.note && !task.note?.split("\n\n").includes(input.note);
  if (isNew) patch.note = task.note ? `${task.note}\n\n${input.note}` : input.note;
  return patch;
}

function newEdges(input: TaskUpdateInput, task: TeamTask, all: readonly TeamTask[]): UpdatePlan["edges"] {
  return (input.addBlocks ?? []).flatMap((id) => {
    const other = all.find((one) => one.id === id);
    if (!other) throw new TaskRuleError(`There is no task ${id} that task ${task.id} could block.`);
    return other.blockedBy.includes(task.id) ? [] : [{ id, blockedBy: [...other.blockedBy, task.id] }];
  });
}

function union(a: readonly string[], b: readonly string[]): string[] {
  return [...new Set([...a, ...b])];
}

function changedFields(task: TeamTask, patch: TaskPatch): TaskPatch {
  const before: TaskPatch = task;
  const entries = Object.entries(patch).filter(([key, value]) => !same(Object.entries(before).find(([name]) => name === key)?.[1], value));
  return Object.fromEntries(entries);
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
