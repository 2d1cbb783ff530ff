import { type Answer, type Call, calls, isCut, jsonLines, type Step } from "./conversation.ts";
import type { Plan, PlanTask } from "./plan.ts";

const MAX_TRIES = 2;
const MERGE: Answer = { text: "Every task is settled: I merge.", calls: [{ name: "Converge", input: {} }] };

/** The lead: all tasks, all teammates, then wait; when all is settled, Converge and a last word. */
export function leadTurn(plan: Plan, steps: readonly Step[]): Answer {
  const ids = createdIds(steps);
  const next = plan.tasks.filter((task) => canCreate(task, ids, steps));
  const creations = next.map((task) => ({ name: "TaskCreate", input: createInput(task, ids) }));
  const starts = ids.size + next.length >= plan.tasks.length ? missingTeammates(plan, steps) : [];
  if (creations.length + starts.length > 0) {
    const split = ids.size === 0 ? `I split the goal into ${plan.tasks.length} tasks.` : "Now the tasks that wait for these.";
    const text = [
      ...(next.length > 0 ? [split] : []),
      ...(starts.length > 0 ? [`I start ${starts.map(({ input }) => input.name).join(", ")}.`] : []),
    ];
    return { text: text.join(" "), calls: [...creations, ...starts] };
  }
  const last = steps.at(-1);
  if (last?.type === "call") return afterCall(plan, last, steps);
  if (last?.type === "words" && /All tasks are done\. Call Converge/.test(last.text)) return MERGE;
  return { text: "I look at the task list.", calls: [{ name: "TaskList", input: {} }] };
}

function missingTeammates(plan: Plan, steps: readonly Step[]) {
  const asked = new Set(calls(steps, "Agent").flatMap((call) => (isCut(call.result) ? [] : [call.input.name])));
  const missing = plan.teammates.filter((one) => !asked.has(one.name));
  return missing.map(({ name, description, prompt }) => ({
    name: "Agent",
    input: { name, description, prompt: `[${plan.label}]\n${prompt}` },
  }));
}

function afterCall(plan: Plan, last: Call, steps: readonly Step[]): Answer {
  if (last.name === "TaskList") return afterList(plan, jsonLines(last.result), steps);
  if (last.name === "Converge" && !last.result.includes("Still at work")) {
    // Words of a success are the plan's; of anything else the system's own report says what happened.
    const isWhole = last.result.includes(" moved from ") && !last.result.includes(": not merged (");
    return { text: isWhole ? `[${plan.label}] ${plan.words.lead}` : last.result };
  }
  return { text: "The teammates are at work. Their messages wake me." };
}

function afterList(plan: Plan, listed: readonly Record<string, unknown>[], steps: readonly Step[]): Answer {
  const open = listed.filter((line) => line.status === "pending" || line.status === "in_progress");
  if (open.length === 0) return MERGE;
  const busy = new Set(open.filter((line) => line.status === "in_progress").map((line) => line.owner));
  const free = open.filter((line) => line.status === "pending" && line.waitsFor === undefined);
  const told = plan.teammates.flatMap(({ name }) => {
    const task = free.find((line) => plan.tasks.find((one) => one.subject === line.subject)?.teammate === name);
    return task === undefined || busy.has(name) ? [] : [{ name, id: String(task.id), subject: String(task.subject) }];
  });
  // A teammate who was told since the last news is on its way.
  const news = steps.findLastIndex((step) => step.type === "words" && step.from === "user");
  if (told.length === 0 || calls(steps.slice(news), "SendMessage").length > 0) return { text: "I wait for the teammates." };
  return {
    text: "There is work that someone can begin now.",
    calls: told.map(({ name, id, subject }) => ({
      name: "SendMessage",
      input: { to: name, summary: `Task ${id} is free for you`, message: `[${plan.label}] Task ${id} (${subject}) is free for you.` },
    })),
  };
}

function createdIds(steps: readonly Step[]): Map<string, string> {
  const ids = new Map<string, string>();
  for (const { input, result } of calls(steps, "TaskCreate")) {
    const id = jsonLines(result)[0]?.id;
    if (typeof input.key === "string" && typeof id === "string") ids.set(input.key, id);
  }
  return ids;
}

function canCreate(task: PlanTask, ids: ReadonlyMap<string, string>, steps: readonly Step[]): boolean {
  const tries = calls(steps, "TaskCreate").filter((call) => call.input.key === task.key).length;
  return !ids.has(task.key) && tries < MAX_TRIES && task.blockedBy.every((key) => ids.has(key));
}

function createInput({ key, subject, description, blockedBy, check }: PlanTask, ids: ReadonlyMap<string, string>): Record<string, unknown> {
  const blockers = blockedBy.flatMap((blocker) => ids.get(blocker) ?? []);
  return { subject, description, key, ...(blockers.length > 0 ? { blockedBy: blockers } : {}), ...(check ? { check } : {}) };
}
