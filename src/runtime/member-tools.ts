import type { FireHook } from "../protocol/hook.ts";
import type { ProcessIdentity, TaskList, TeamBus, TeamMessage, TeamStep, TeamTask } from "../protocol/team.ts";
import type { Tool } from "../protocol/tool.ts";
import { previewOf } from "../team/bus/message-parts.ts";
import { claimable } from "../team/task-rules.ts";
import { sendMessageTool } from "../team/tools/send-message.ts";
import { taskCreateTool } from "../team/tools/task-create.ts";
import { taskGetTool } from "../team/tools/task-get.ts";
import { taskListTool } from "../team/tools/task-list.ts";
import { assignmentMessage, type Completion, taskUpdateTool } from "../team/tools/task-update.ts";
import { unreadOfAll } from "../team/unread-text.ts";

export type MemberTools = {
  bus: TeamBus;
  self: string;
  role: "lead" | "teammate";
  process: ProcessIdentity;
  onStep: (step: TeamStep) => void;
  beforeComplete?: (task: TeamTask) => Promise<Completion>;
  onClaim?: (task: TeamTask) => Promise<void>;
  reviveMember?: (name: string) => Promise<string>;
  openPlans?: Map<string, string>;
  /** Of a lead: members that were asked to stop and have not said that they did. */
  stopping?: Set<string>;
  /** Asked for at each event: the tools are made before the agent that fires it. */
  fireHook?: () => FireHook | undefined;
};

/** The tools of coordination, the same for lead and teammates but for what their role allows. */
export function memberTools({
  bus,
  self,
  role,
  process,
  onStep,
  beforeComplete,
  onClaim,
  reviveMember,
  openPlans,
  stopping,
  fireHook,
}: MemberTools): Tool[] {
  const { tasks, mailbox, roster, presence } = bus;
  const taskStep = (task: TeamTask) =>
    onStep({ type: "task", id: task.id, status: task.status, subject: task.subject, ...(task.owner ? { owner: task.owner } : {}) });
  const onSent = ({ to, body }: { to: string; body: TeamMessage }) => {
    if (body.type === "plan_approval_response") openPlans?.delete(body.requestId);
    if (body.type === "shutdown_request") stopping?.add(to);
    onStep({ type: "message", from: self, to, summary: previewOf(body), kind: body.type });
  };
  const fireTask = async (event: "task_created" | "task_completed", { id, subject, description, owner }: TeamTask) => {
    const task = { id, subject, description, ...(owner === undefined ? {} : { owner }) };
    return fireHook?.()?.({ event, task }, new AbortController().signal);
  };
  return [
    taskCreateTool({
      tasks,
      onCreate: async (task) => {
        taskStep(task);
        await fireTask("task_created", task);
      },
    }),
    taskGetTool({ tasks }),
    taskListTool({
      tasks,
      // Whose mail is unread is the lead's matter: it decides whether to wait, to interrupt or to give the work to another.
      ...(role === "lead"
        ? {
            unread: async () =>
              unreadOfAll(
                mailbox,
                (await roster.read()).members.map(({ name }) => name),
              ),
          }
        : {}),
    }),
    taskUpdateTool({
      tasks,
      self,
      role,
      process,
      team: { roster, presence },
      notifyAssignment: async (to, task) => {
        const body = assignmentMessage(task);
        await mailbox.send(to, body);
        onSent({ to, body });
        await reviveMember?.(to);
      },
      ...(beforeComplete ? { beforeComplete } : {}),
      mayComplete: async (task) => (await fireTask("task_completed", task))?.block,
      onChange: async (task, before) => {
        taskStep(task);
        if (task.status === "in_progress" && before.status !== "in_progress" && task.owner === self) await onClaim?.(task);
        if (task.status === "completed" && before.status !== "completed") await offerFreed(task, bus, self, tasks);
      },
    }),
    sendMessageTool({
      mailbox,
      roster,
      presence,
      self,
      ...(reviveMember ? { reviveMember } : {}),
      ...(openPlans ? { openPlans } : {}),
      ...(stopping ? { isStopping: (name) => stopping.has(name) } : {}),
      onSent,
    }),
  ];
}

/**
 * Tasks that waited for this one are free now. Whoever completed it reads that in the answer and may take one; idle teammates are
 * woken for the rest, one each, in the order of their names, so that a freed task does not wait for the lead's next turn.
 */
async function offerFreed(done: TeamTask, { mailbox, presence }: TeamBus, self: string, tasks: TaskList): Promise<void> {
  const all = await tasks.list();
  const freed = claimable(all).filter((task) => task.blockedBy.includes(done.id));
  const states = await presence.list();
  const idle = states.filter((state) => state.status === "idle" && state.name !== self && state.name !== "lead").map((state) => state.name);
  const offer = async (to: string, task: TeamTask) => {
    await mailbox.send(to, {
      type: "message",
      summary: `task ${task.id} is free to claim now`,
      text: `Task ${task.id} (${task.subject}) waits for nothing any more: task ${done.id} is completed. Claim it with TaskUpdate if it is yours to do.`,
      taskId: task.id,
    });
  };
  for (const task of freed.filter((one) => one.owner !== undefined && idle.includes(one.owner))) await offer(task.owner ?? "", task);
  const anyones = freed.filter((one) => one.owner === undefined).slice(1);
  for (const [index, task] of anyones.entries()) {
    const name = idle.sort()[index];
    if (name !== undefined) await offer(name, task);
  }
}
