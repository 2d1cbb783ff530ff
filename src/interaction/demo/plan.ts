import * as z from "zod";
import { UserError } from "../../protocol/errors.ts";

/** Text as one string, or as lines, so that a plan file stays readable. */
const text = z.union([z.string(), z.array(z.string())]).transform((value) => (typeof value === "string" ? value : value.join("\n")));

const edit = z.union([
  z.strictObject({ file: z.string().min(1), old: text, new: text }),
  /** The whole file; it may exist already. */
  z.strictObject({ file: z.string().min(1), content: text }),
]);

const task = z.strictObject({
  /** Name inside the plan. */
  key: z.string().min(1),
  /** Unique: the task is found again by it in the list. */
  subject: z.string().min(1),
  description: text.default(""),
  /** Keys of tasks that stand before this one. */
  blockedBy: z.array(z.string()).default([]),
  check: z.string().optional(),
  /** Who does it; whoever comes first when absent. */
  teammate: z.string().optional(),
  /** It is not begun before a message of this member was read. */
  waitsForMessageFrom: z.string().optional(),
  edits: z.array(edit).default([]),
  /** Run after the edits. */
  commands: z.array(z.string().min(1)).default([]),
});

const planSchema = z
  .strictObject({
    /** Stands before all that the model says. */
    label: z.string().default("scripted answers, no AI"),
    teammates: z
      .array(z.strictObject({ name: z.string().min(1), description: z.string().default("does its tasks"), prompt: text }))
      .default([]),
    tasks: z.array(task).default([]),
    /** Sent once the sender has completed the task of that key. */
    messages: z
      .array(z.strictObject({ from: z.string(), to: z.string(), afterTask: z.string(), summary: z.string().min(1), text }))
      .default([]),
    /** By file, what it holds after a conflict; without an entry both sides are kept, ours first. */
    resolutions: z.record(z.string(), text).default({}),
    /** The integrator's order; the teammates' order unless given. */
    mergeOrder: z.array(z.string()).optional(),
    /** The model's last words. */
    words: z
      .strictObject({
        lead: text.default("All tasks are done and merged."),
        integrator: text.default("All branches are merged."),
        main: text.default("This is a scripted answer."),
      })
      .prefault({}),
  })
  .check(({ value: plan, issues }) => {
    for (const message of problems(plan)) issues.push({ code: "custom", message, input: plan });
  });

/** What the scripted model plays: who does which task with which edits, who tells whom what, how conflicts end. */
export type Plan = z.output<typeof planSchema>;
export type PlanInput = z.input<typeof planSchema>;
export type PlanTask = Plan["tasks"][number];

export function readPlan(input: unknown): Plan {
  const read = planSchema.safeParse(input);
  if (read.success) return read.data;
  throw new UserError(`The plan can't be played:\n${z.prettifyError(read.error)}`);
}

function problems(plan: Pick<Plan, "teammates" | "tasks" | "messages">): string[] {
  const names = new Set(plan.teammates.map((one) => one.name));
  const keys = new Set<string>();
  const subjects = new Set<string>();
  const found: string[] = [];
  for (const one of plan.tasks) {
    if (keys.has(one.key)) found.push(`two tasks have the key "${one.key}"`);
    if (subjects.has(one.subject)) found.push(`two tasks have the subject "${one.subject}"`);
    for (const key of one.blockedBy) if (!keys.has(key)) found.push(`task "${one.key}" waits for "${key}", which does not stand before it`);
    if (one.teammate !== undefined && !names.has(one.teammate))
      found.push(`task "${one.key}" is for "${one.teammate}", who is no teammate`);
    keys.add(one.key);
    subjects.add(one.subject);
  }
  for (const one of plan.messages) {
    if (!keys.has(one.afterTask)) found.push(`the message "${one.summary}" comes after "${one.afterTask}", which is no task`);
    if (!names.has(one.from)) found.push(`the message "${one.summary}" is from "${one.from}", who is no teammate`);
  }
  return found;
}
