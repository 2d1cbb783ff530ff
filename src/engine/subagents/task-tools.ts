import * as z from "zod";
import { defineWrittenTool } from "../../protocol/define-tool.ts";
import { escapeSystemTags } from "../../protocol/system-tags.ts";
import { TASK_STATUSES } from "../../protocol/team.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";
import type { Subagents } from "./background.ts";
import { endText } from "./notification.ts";
import type { Subagent } from "./subagent.ts";

/** Of a session without a team. */
export type PlainTask = { id: string; subject: string; description: string; status: (typeof TASK_STATUSES)[number]; note?: string };
export type TaskStore = { read(): Promise<PlainTask[]>; write(tasks: readonly PlainTask[]): Promise<void> };
export type TaskToolParts = {
  store: TaskStore;
  agents: () => Promise<Subagents>;
  /** Hooks may refuse that a task is completed: their reason. */
  onTask?: (event: "task_created" | "task_completed", task: PlainTask) => Promise<string | undefined>;
};

const ID = "Its id, as TaskList gives it.";
const FIELDS = { subject: "One line that says what is done when it is done.", description: "What to do, and how to tell that it is done." };

export const taskCreateSchema = () =>
  z.object({
    subject: z.string().min(1).describe(FIELDS.subject),
    description: z.string().optional().describe(FIELDS.description),
  });
export const taskGetSchema = () => z.object({ taskId: z.string().describe(ID) });
export const taskUpdateSchema = () =>
  z.object({
    taskId: z.string().describe(ID),
    status: z.enum(TASK_STATUSES).optional(),
    subject: z.string().optional(),
    description: z.string().optional(),
    note: z.string().optional(),
  });

const text = (description?: string) => (description === undefined ? { type: "string" } : { description, type: "string" });
const CREATE = {
  type: "object",
  properties: { subject: { type: "string", minLength: 1, description: FIELDS.subject }, description: text(FIELDS.description) },
  required: ["subject"],
};
const GET = { type: "object", properties: { taskId: { type: "string", description: ID } }, required: ["taskId"] };
const LIST = { type: "object", properties: {} };
const UPDATE = {
  type: "object",
  properties: {
    taskId: { type: "string", description: ID },
    status: { type: "string", enum: [...TASK_STATUSES] },
    subject: text(),
    description: text(),
    note: text(),
  },
  required: ["taskId"],
};

/** The one list of a session without a team: what was noted to do, and the sub-agents in the background. */
export function taskTools({ store, agents, onTask }: TaskToolParts): Tool[] {
  return [
    defineWrittenTool({
      name: "TaskCreate",
      description: "Notes a task of this session, for work of several steps. Starts nothing. Answers with its id.",
      inputSchema: CREATE,
      schema: taskCreateSchema,
      access: ({ subject }) => ({ kind: "other", subject }),
      async run({ subject, description = "" }) {
        const tasks = await store.read();
        const id = String(Math.max(0, ...tasks.map((task) => Number(task.id))) + 1);
        const task: PlainTask = { id, subject, description, status: "pending" };
        await store.write([...tasks, task]);
        await onTask?.("task_created", task);
        return textResult(JSON.stringify({ id, status: "pending", subject }));
      },
    }),
    defineWrittenTool({
      name: "TaskGet",
      description: "All of one task; of a sub-agent in the background its state, and its result when it has ended.",
      inputSchema: GET,
      schema: taskGetSchema,
      access: ({ taskId }) => ({ kind: "other", subject: taskId }),
      isConcurrencySafe: () => true,
      async run({ taskId }) {
        const known = await agents();
        const agent = known.find(taskId);
        if (agent) {
          known.markTold(agent.id);
          return textResult(agent.end ? endText(agent, agent.end) : agentLine(agent));
        }
        const tasks = await store.read();
        const task = tasks.find(({ id }) => id === taskId);
        return task ? textResult(JSON.stringify(task)) : errorResult(noTask(taskId, tasks, known));
      },
    }),
    defineWrittenTool({
      name: "TaskList",
      description: "The tasks of this session and its sub-agents in the background, one line of JSON each.",
      inputSchema: LIST,
      schema: () => z.object({}),
      access: () => ({ kind: "other", subject: "" }),
      isConcurrencySafe: () => true,
      async run() {
        const lines = [...(await store.read()).map(taskLine), ...(await agents()).list().filter(isEntry).map(agentLine)];
        return textResult(lines.length === 0 ? "There are no tasks, and nothing runs in the background." : lines.join("\n"));
      },
    }),
    defineWrittenTool({
      name: "TaskUpdate",
      description: "Changes a task: its state, its words, a note.",
      inputSchema: UPDATE,
      schema: taskUpdateSchema,
      access: ({ taskId }) => ({ kind: "other", subject: taskId }),
      async run({ taskId, ...changes }) {
        const known = await agents();
        if (known.find(taskId)) return errorResult(`${taskId} is a sub-agent: TaskStop ends it, SendMessage writes to it.`);
        const tasks = await store.read();
        const task = tasks.find(({ id }) => id === taskId);
        if (!task) return errorResult(noTask(taskId, tasks, known));
        const given = Object.entries(changes).filter(([, value]) => value !== undefined);
        const changed: PlainTask = { ...task, ...Object.fromEntries(given) };
        const isDone = changed.status === "completed" && task.status !== "completed";
        const refused = isDone ? await onTask?.("task_completed", changed) : undefined;
        if (refused !== undefined) return errorResult(`Task ${taskId} is not completed: a hook refused it. ${refused}`);
        await store.write(tasks.map((one) => (one === task ? changed : one)));
        return textResult(JSON.stringify(changed));
      },
    }),
  ];
}

/** In words of tasks. */
const STATUS = { completed: "completed", failed: "failed", stopped: "cancelled" } as const;

/** What a call waits for is that call. */
function isEntry(agent: Subagent): boolean {
  return agent.isBackground;
}

function agentLine(agent: Subagent): string {
  const { id, name, type, description, end, startedAt } = agent;
  const status = end ? STATUS[end.status] : "in_progress";
  return JSON.stringify({ id, status, subject: escapeSystemTags(description), owner: name ?? type, startedAt });
}

function taskLine({ id, status, subject }: PlainTask): string {
  return JSON.stringify({ id, status, subject });
}

function noTask(id: string, tasks: readonly PlainTask[], agents: Subagents): string {
  const ids = [...tasks.map((task) => task.id), ...agents.list().map((agent) => agent.id)];
  return `There is no task ${id}. ${ids.length === 0 ? "There are none yet." : `Tasks: ${ids.join(", ")}.`}`;
}
