import { type Answer, type Call, calls, hasMessageFrom, isCut, jsonLines, type Step } from "./conversation.ts";
import type { Plan, PlanTask } from "./plan.ts";

const MAX_TRIES = 3;
type Action = { name: string; input: Record<string, unknown> };

/** A teammate: takes the next of its tasks that is free, does it, says what the plan has it say, and so on. */
export function workerTurn(plan: Plan, self: string, steps: readonly Step[]): Answer {
  const claim = openClaim(steps, self);
  const task = claim && plan.tasks.find((one) => one.subject === claim.subject);
  if (claim && task) return workOn(task, claim.id, steps.slice(claim.at + 1));

  const message = unsent(plan, self, steps);
  if (message) return { text: `${message.to} must know of this.`, calls: [message.call] };

  const last = steps.at(-1);
  if (last?.type !== "call" || last.name !== "TaskList") return { text: "I look for a task.", calls: [{ name: "TaskList", input: {} }] };
  return chooseTask(plan, self, jsonLines(last.result), steps);
}

function chooseTask(plan: Plan, self: string, listed: readonly Record<string, unknown>[], steps: readonly Step[]): Answer {
  const news = steps.findLastIndex((step) => step.type === "words" && step.from === "user");
  const tried = calls(steps.slice(news + 1), "TaskUpdate").filter((call) => call.input.status === "in_progress");
  for (const line of listed) {
    const task = plan.tasks.find((one) => one.subject === line.subject);
    if (!task || (task.teammate !== undefined && task.teammate !== self)) continue;
    if (line.owner !== undefined && line.owner !== self) continue;
    if ((line.status !== "pending" && line.status !== "in_progress") || line.waitsFor !== undefined) continue;
    if (task.waitsForMessageFrom !== undefined && !hasMessageFrom(steps, task.waitsForMessageFrom)) continue;
    if (tried.filter((call) => call.input.taskId === line.id).length >= MAX_TRIES) continue;
    return {
      text: `I take task ${String(line.id)}: ${task.subject}.`,
      calls: [{ name: "TaskUpdate", input: { taskId: line.id, owner: self, status: "in_progress" } }],
    };
  }
  return { text: report(plan, self, steps) };
}

function report(plan: Plan, self: string, steps: readonly Step[]): string {
  const done = completed(steps);
  if (done.length === 0) return `[${plan.label}] There is nothing that ${self} can begin now.`;
  return `[${plan.label}] Done by ${self}: ${done.join("; ")}.`;
}

/** The task that the last successful claim took, unless it was finished since. */
function openClaim(steps: readonly Step[], self: string): { id: string; subject: string; at: number } | undefined {
  let claim: { id: string; subject: string; at: number } | undefined;
  for (const [at, step] of steps.entries()) {
    if (step.type !== "call" || step.name !== "TaskUpdate") continue;
    const { status, taskId } = step.input;
    const answer = jsonLines(step.result)[0];
    if (status === "in_progress" && answer?.owner === self && answer.status === "in_progress") {
      claim = { id: String(answer.id), subject: String(answer.subject), at };
    } else if (
      claim &&
      taskId === claim.id &&
      (isCut(step.result) || answer?.status === "completed" || answer?.status === "failed" || isLost(step.result))
    ) {
      claim = undefined;
    }
  }
  return claim;
}

function isLost(result: string): boolean {
  return /was taken away|is owned by|in progress by|There is no task/.test(result);
}

function workOn(task: PlanTask, id: string, since: readonly Step[]): Answer {
  const actions = actionsOf(task);
  const at = progress(actions, since);
  const next = actions[at];
  if (next?.name === "ReadFile") {
    const reads = actions.slice(at).filter((action) => action.name === "ReadFile");
    return { text: "I read before I change.", calls: reads };
  }
  if (next) return { text: next.name === "Bash" ? "I run it." : "I make the change.", calls: [next] };
  return finish(task, id, since);
}

/** All reads, then all changes, then the commands. */
function actionsOf(task: PlanTask): Action[] {
  const files = [...new Set(task.edits.map((edit) => edit.file))];
  const reads = files.map((path): Action => ({ name: "ReadFile", input: { path } }));
  const changes = files.flatMap((path) => changesOf(path, task));
  return [...reads, ...changes, ...task.commands.map((command): Action => ({ name: "Bash", input: { command } }))];
}

function changesOf(path: string, task: PlanTask): Action[] {
  const edits = task.edits.filter((edit) => edit.file === path);
  const replaced = edits.flatMap((edit) => ("old" in edit ? [{ old_string: edit.old, new_string: edit.new }] : []));
  const written = edits.flatMap((edit) => ("content" in edit ? [edit.content] : []));
  return [
    ...written.map((content): Action => ({ name: "WriteFile", input: { path, content } })),
    ...(replaced.length > 1
      ? [{ name: "EditFile", input: { path, edits: replaced } }]
      : replaced.map((one): Action => ({ name: "EditFile", input: { path, ...one } }))),
  ];
}

/** How many actions are behind; a change that wants its file read again goes back to that read. */
function progress(actions: readonly Action[], since: readonly Step[]): number {
  const done = new Set<number>();
  const retries = new Map<number, number>();
  for (const step of since) {
    if (step.type !== "call" || isCut(step.result)) continue;
    const at = actions.findIndex((action, index) => !done.has(index) && isSame(action, step));
    if (at < 0) continue;
    done.add(at);
    const tries = retries.get(at) ?? 0;
    if (!/Read it (?:first|again)/.test(step.result) || step.name === "ReadFile" || tries >= MAX_TRIES) continue;
    retries.set(at, tries + 1);
    done.delete(at);
    const read = actions.findIndex((action) => action.name === "ReadFile" && action.input.path === step.input.path);
    if (read >= 0) done.delete(read);
  }
  const next = actions.findIndex((_, index) => !done.has(index));
  return next < 0 ? actions.length : next;
}

function isSame(action: Action, call: Call): boolean {
  return action.name === call.name && JSON.stringify(action.input) === JSON.stringify(call.input);
}

function finish(task: PlanTask, taskId: string, since: readonly Step[]): Answer {
  const tries = calls(since, "TaskUpdate").filter((call) => call.input.taskId === taskId);
  const last = tries.at(-1);
  const isEmpty = task.edits.length === 0 || last?.result.includes("no changed file");
  const update = (input: Record<string, unknown>): Answer => ({
    text: `Task ${taskId} is ${input.status === "failed" ? "not to be finished by me" : "done"}.`,
    calls: [{ name: "TaskUpdate", input: { taskId, ...input } }],
  });
  if (last?.input.status === "failed") return { text: `Task ${taskId} could not be finished: ${last.result}` };
  if (last === undefined || (last.result.includes("no changed file") && last.input.noChange === undefined)) {
    return update({ status: "completed", ...(isEmpty ? { noChange: true, note: noteOf(task) } : {}) });
  }
  return update({ status: "failed", note: last.result.slice(0, 1_000) });
}

function noteOf({ commands }: PlanTask): string {
  return commands.length === 0 ? "Everything was there already." : `Only checked: ${commands.join("; ")}`;
}

function completed(steps: readonly Step[]): string[] {
  return calls(steps, "TaskUpdate").flatMap((call) => {
    const answer = call.input.status === "completed" ? jsonLines(call.result)[0] : undefined;
    return answer?.status === "completed" ? [String(answer.subject)] : [];
  });
}

function unsent(plan: Plan, self: string, steps: readonly Step[]): { to: string; call: Action } | undefined {
  const done = new Set(completed(steps));
  const sent = calls(steps, "SendMessage").map((call) => `${String(call.input.to)}: ${String(call.input.summary)}`);
  for (const { from, to, afterTask, summary, text } of plan.messages) {
    const task = plan.tasks.find((one) => one.key === afterTask);
    if (from !== self || !task || !done.has(task.subject) || sent.includes(`${to}: ${summary}`)) continue;
    return { to, call: { name: "SendMessage", input: { to, summary, message: text } } };
  }
  return undefined;
}
