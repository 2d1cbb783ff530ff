import { readdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import type { AgentDefinition } from "../engine/subagents/definitions.ts";
import type { PlainTask, TaskStore } from "../engine/subagents/task-tools.ts";
import { readHeader } from "../memory/session-head.ts";
import { isErrno, readTextOrUndefined, writeAtomic } from "../platform/files.ts";
import { addSpent, NOTHING_SPENT, type Spent } from "../protocol/model.ts";
import { PERMISSION_MODES } from "../protocol/permission.ts";
import { TASK_STATUSES } from "../protocol/team.ts";

const TASKS = "tasks.json";
const DEFAULT_TURNS = 50;

const RecordSchema = z.object({
  version: z.literal(1),
  id: z.string(),
  name: z.string().optional(),
  type: z.string(),
  description: z.string(),
  startedAt: z.string(),
  /** Full name. */
  model: z.string(),
  isFork: z.boolean(),
  isBackground: z.boolean(),
  maxTurns: z.number(),
  /** What its definition said when it was started. */
  rules: z.object({
    level: z.enum(["project", "user", "built-in"]),
    tools: z.array(z.string()).optional(),
    disallowedTools: z.array(z.string()),
    permissionMode: z.enum([...PERMISSION_MODES, "dontAsk"]).optional(),
    memory: z.enum(["user", "project", "none"]).optional(),
    commands: z.literal("read-only").optional(),
    /** Of skills: each call has to be held by all of these. */
    allowLists: z.array(z.object({ name: z.string(), tools: z.array(z.string()) })).optional(),
  }),
  worktree: z.object({ path: z.string(), branch: z.string(), base: z.string() }).optional(),
  /** Its end was told to the one who started it. */
  isTold: z.boolean().optional(),
  end: z
    .object({ status: z.enum(["completed", "failed", "stopped"]), text: z.string(), notes: z.array(z.string()), turns: z.number() })
    .optional(),
});
/** What stands beside a sub-agent's session: with it, it can go on in a later process. */
export type SubagentRecord = z.output<typeof RecordSchema>;

const TasksSchema = z.array(
  z.object({ id: z.string(), subject: z.string(), description: z.string(), status: z.enum(TASK_STATUSES), note: z.string().optional() }),
);

type SubagentPlan = Pick<SubagentRecord, "id" | "description" | "model" | "isBackground"> & {
  name?: string | undefined;
  /** Undefined for a fork. */
  definition: AgentDefinition | undefined;
  worktree?: SubagentRecord["worktree"];
};

export function newRecord({ name, definition, worktree, ...rest }: SubagentPlan): SubagentRecord {
  return {
    version: 1,
    ...rest,
    ...(name === undefined ? {} : { name }),
    type: definition?.name ?? "fork",
    startedAt: new Date().toISOString(),
    isFork: definition === undefined,
    maxTurns: definition?.maxTurns ?? DEFAULT_TURNS,
    rules: rulesOf(definition),
    ...(worktree ? { worktree } : {}),
  };
}

/** Of one that runs, for the first time or again. */
export function begun({ end: _, isTold: __, ...record }: SubagentRecord): SubagentRecord {
  return record;
}

export async function writeRecord(folder: string, record: SubagentRecord): Promise<void> {
  await writeAtomic(join(folder, `${record.id}.json`), `${JSON.stringify(record, undefined, 1)}\n`);
}

/** Of earlier runs of the session, in the order in which they were started. What can't be read is left out: its session stays. */
export async function readRecords(folder: string): Promise<SubagentRecord[]> {
  const names = await namesIn(folder);
  const records = await Promise.all(
    names
      .filter((name) => /^agent-[0-9a-f]+\.json$/.test(name))
      .map(async (name) => RecordSchema.safeParse(await readJson(join(folder, name)))),
  );
  return records.flatMap((read) => (read.success ? [read.data] : [])).sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
}

/** By sub-agents of earlier processes: each has a session of its own. One that was cut off before its first line spent nothing. */
export async function subagentsSpent(folder: string): Promise<Spent> {
  const names = (await namesIn(folder)).filter((name) => /^agent-[0-9a-f]+\.jsonl$/.test(name));
  if (names.length === 0) return NOTHING_SPENT;
  const { loadSession } = await import("../memory/load-session.ts");
  const paths = names.map((name) => join(folder, name)).filter((path) => readHeader(path) !== undefined);
  return paths.map((path) => loadSession(path).loaded).reduce<Spent>((sum, one) => addSpent(sum, one), NOTHING_SPENT);
}

/** The tasks of a session without a team; one process has it at a time. */
export function taskStore(folder: string): TaskStore {
  const path = join(folder, TASKS);
  return {
    async read() {
      const read = TasksSchema.safeParse(await readJson(path));
      return read.success ? read.data.map((task): PlainTask => withoutUndefined(task)) : [];
    },
    write: (tasks) => writeAtomic(path, `${JSON.stringify(tasks, undefined, 1)}\n`),
  };
}

function withoutUndefined({ note, ...task }: z.output<typeof TasksSchema>[number]): PlainTask {
  return note === undefined ? task : { ...task, note };
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  });
}

async function readJson(path: string): Promise<unknown> {
  const text = await readTextOrUndefined(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Cut off by a full disk or changed by hand: as if it were not there.
    return undefined;
  }
}

function rulesOf(definition: AgentDefinition | undefined): SubagentRecord["rules"] {
  if (!definition) return { level: "built-in", disallowedTools: [] };
  const { level, tools, disallowedTools, permissionMode, memory, commands } = definition;
  return {
    level,
    ...(tools ? { tools: [...tools] } : {}),
    disallowedTools: [...disallowedTools],
    ...(permissionMode ? { permissionMode } : {}),
    ...(memory ? { memory } : {}),
    ...(commands ? { commands } : {}),
  };
}
