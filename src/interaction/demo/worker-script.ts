import { type Answer, type Call, calls, hasMessageFrom, isCut, jsonLines, type Step } from "./conversation.ts";
import type { Plan, PlanTask } from "./plan.ts";

const MAX_TRIES = 3;
type Action = { name: string; input: Record<string, unknown> };

/** A teammate: takes the next of its tasks that is free, does it, says what the plan has it say, and so on. */
export function workerTurn(plan: Plan, self: string, steps: readonly Step[]): Answer {
  const claim = openClaim(steps, self);
  const task = claim && plan.tasks.find((one) => one.subject === claim.subject);
  if (claim && task) return goOn(plan, self, steps, workOn(task, claim.id, steps.slice(claim.at + 1)));

  const message = unsent(plan, self, steps);
  if (message) return { text: `${message.to} must know of this.`, calls: [message.call] };

  const listed = listNow(steps);
  if (!listed) return { text: "I look for a task.", calls: [{ name: "TaskList", input: {} }] };
  const next = nextTask(plan, self, listed, steps);
  return next ? take(next, self) : { text: report(plan, self, steps) };
}

/** A first completion takes the next task along, unless somebody is to be told of this one before. */
function goOn(plan: Plan, self: string, steps: readonly Step[], answer: Answer): Answer {
  const [done] = answer.calls ?? [];
  if (done?.name !== "TaskUpdate" || done.input.status !== "completed") return answer;
  if (calls(steps, "TaskUpdate").some((call) => call.input.taskId === done.input.taskId && call.input.status === "completed"))
    return answer;
  if (plan.messages.some((message) => message.from === self)) return answer;
  const taken = new Set(calls(steps, "TaskUpdate").map((call) => call.input.taskId));
  const known = calls(steps, "TaskList").at(-1)?.result;
  const listed = (known === undefined ? listAtStart(steps) : jsonLines(known)) ?? [];
  const next = nextTask(
    plan,
    self,
    listed.filter((line) => !taken.has(line.id) && line.status === "pending"),
    steps,
  );
  return next ? { text: answer.text ?? "", calls: [done, ...(take(next, self).calls ?? [])] } : answer;
}

/** The list as of this moment: as it was asked for just now, as the first message has it, or known to hold nothing more. */
function listNow(steps: readonly Step[]): Record<string, unknown>[] | undefined {
  const last = steps.at(-1);
  if (last?.type === "call" && last.name === "TaskList") return jsonLines(last.result);
  if (last?.type === "call" && last.result.includes("Nothing is free to claim now.")) return [];
  return steps.every((step) => step.type === "words" && step.from === "user") ? listAtStart(steps) : undefined;
}

function listAtStart(steps: readonly Step[]): Record<string, unknown>[] | undefined {
  const first = steps.find((step) => step.type === "words" && step.text.includes("Open tasks as you start"));
  return first?.type === "words" ? jsonLines(first.text) : undefined;
}

type Choice = { id: string; task: PlanTask };

function nextTask(plan: Plan, self: string, listed: readonly Record<string, unknown>[], steps: readonly Step[]): Choice | undefined {
  const news = steps.findLastIndex((step) => step.type === "words" && step.from === "user");
  const tried = calls(steps.slice(news + 1), "TaskUpdate").filter((call) => call.input.status === "in_progress");
  for (const line of listed) {
    const task = plan.tasks.find((one) => one.subject === line.subject);
    if (!task || (task.teammate !== undefined && task.teammate !== self)) continue;
    if (line.owner !== undefined && line.owner !== self) continue;
    if ((line.status !== "pending" && line.status !== "in_progress") || line.waitsFor !== undefined) continue;
    if (task.waitsForMessageFrom !== undefined && !hasMessageFrom(steps, task.waitsForMessageFrom)) continue;
    if (tried.filter((call) => call.input.taskId === line.id).length >= MAX_TRIES) continue;
    return { id: String(line.id), task };
  }
  return undefined;
}

/** The claim, and what is to be read for it, in one turn. */
function take({ id, task }: Choice, self: string): Answer {
  const claim = { name: "TaskUpdate", input: { taskId: id, owner: self, status: "in_progress" } };
  return {
    text: `I take task ${id}: ${task.subject}.`,
    calls: [claim, ...actionsOf(task).filter((action) => action.name === "ReadFile")],
  };
}

function report(plan: Plan, self: string, steps: readonly Step[]): string {
  const done = completed(steps);
  if (done.length === 0) return `[${plan.label}] There is nothing that ${self} can begin now.`;
  return `[${plan.label}] Done by ${self}: ${done.join("; ")}.`;
}

/** The oldest task that was claimed and is not finished since: the next may be taken in the turn that finishes one. */
function openClaim(steps: readonly Step[], self: string): { id: string; subject: string; at: number } | undefined {
  const open = new Map<string, { id: string; subject: string; at: number }>();
  for (const [at, step] of steps.entries()) {
    if (step.type !== "call" || step.name !== "TaskUpdate") continue;
    const { status, taskId } = step.input;
    const answer = jsonLines(step.result)[0];
    if (status === "in_progress" && answer?.owner === self && answer.status === "in_progress") {
      open.set(String(answer.id), { id: String(answer.id), subject: String(answer.subject), at });
    } else if (isCut(step.result) || answer?.status === "completed" || answer?.status === "failed" || isLost(step.result)) {
      open.delete(String(taskId));
    }
  }
  return open.values().next().value;
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
