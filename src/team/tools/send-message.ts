import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import { LEAD, type Mailbox, type MemberStatus, type Presence, type Roster, type TeamMessage } from "../../protocol/team.ts";
import { errorResult, type Tool, type ToolResult, textResult } from "../../protocol/tool.ts";
import { agentNameRegistry } from "../agent-name-registry.ts";
import { CannotSend, memberNames } from "../bus/recipients.ts";
import { behind } from "../unread-text.ts";

const forMembers = z.strictObject({
  to: z.string().describe('A member\'s name or agentId, or "*" for a piece of news to all others.'),
  summary: z.string().optional().describe("5 to 10 words for lists and previews. Required when message is text."),
  message: z.union([
    z.string(),
    z.strictObject({
      type: z.enum(["shutdown_request", "shutdown_response", "plan_approval_response"]),
      requestId: z.string().optional().describe("In a response: the requestId of what it answers."),
      approve: z.boolean().optional().describe("In a response: yes or no."),
      feedback: z.string().optional().describe("The reason, or what to change in a plan."),
    }),
  ]),
});
const forLead = forMembers.extend({
  interrupt: z
    .boolean()
    .optional()
    .describe("With a text to one member that goes wrong: its turn ends, what it runs is stopped, and your text is what it reads next."),
});
type Input = z.output<typeof forLead>;

type Options = {
  mailbox: Mailbox;
  roster: Roster;
  presence: Presence;
  self: string;
  /** Brings back a member whose process is gone; what it returns is added to the answer. */
  reviveMember?: (name: string) => Promise<string>;
  /** Of a lead: plans that wait for an answer, by request id, with the member. */
  openPlans?: ReadonlyMap<string, string>;
  /** Of a lead: whether a member was asked to stop and has not said that it did. It reads nothing more before its next start. */
  isStopping?: (name: string) => boolean;
  onSent?: (sent: { id: string; to: string; body: TeamMessage }) => void | Promise<void>;
};

export function sendMessageTool({ mailbox, roster, presence, self, reviveMember, openPlans, isStopping, onSent }: Options): Tool {
  async function send(to: string, body: TeamMessage): Promise<void> {
    const id = await mailbox.send(to, body);
    await onSent?.({ id, to, body });
  }

  async function sendToAll(body: TeamMessage): Promise<ToolResult> {
    const others = memberNames(await roster.read()).filter((name) => name !== self);
    if (others.length === 0) return errorResult("Nobody else is in this team.");
    const reached: string[] = [];
    const missed: string[] = [];
    for (const name of others) {
      try {
        await send(name, body);
        reached.push(name);
      } catch (error) {
        // Who leaves at this moment must not keep it from the others.
        if (!(error instanceof CannotSend)) throw error;
        missed.push(` Not to ${name}: ${error.message}`);
      }
    }
    if (reached.length === 0) return errorResult(`Delivered to nobody.${missed.join("")}`);
    return textResult(`Delivered to ${reached.join(", ")} as news: it wakes nobody and is no task for anyone.${missed.join("")}`);
  }

  async function sendToOne(name: string, body: TeamMessage): Promise<ToolResult> {
    if (body.type === "shutdown_response" && name !== LEAD) return errorResult("A shutdown_response goes to the lead.");
    const problem = body.type === "plan_approval_response" ? wrongPlan(body.requestId, name, openPlans) : undefined;
    if (problem !== undefined) return errorResult(problem);
    const statusNow = async () => (await presence.list()).find((state) => state.name === name)?.status;
    // It would stop the member when something else has resumed it.
    if (body.type === "shutdown_request" && hasEnded(await statusNow())) return textResult(`${name} has ended already; nothing was sent.`);
    const before = await mailbox.waitingFor(name);
    await send(name, body);
    const status = await statusNow();
    if (body.type === "shutdown_request") return textResult(`Delivered to ${name}${behind(before)}. ${whenRead(name, status)}`);
    const isLeaving = isStopping?.(name) === true;
    const revived = reviveMember && (isLeaving || isGone(status)) && name !== LEAD ? ` ${await reviveMember(name)}` : "";
    const isInterrupt = body.type === "message" && body.interrupt;
    const when = isLeaving ? `${name} was about to stop.` : isInterrupt ? whenInterrupted(name, status) : whenRead(name, status);
    return textResult(`Delivered to ${name}${behind(before)}. ${when}${revived}`);
  }

  return defineTool({
    name: "SendMessage",
    description: [
      "Sends a message to a member of the team. It lands in the other's mailbox and is read before their next model call; an idle member wakes up by it.",
      "Text you only write in your answer reaches nobody: what another member needs to know goes through this tool.",
      "Write to the one whom it concerns, once, with all they need (names, paths, signatures). Work that must be tracked is a task, not a message.",
      '`to: "*"` is news for all others; it wakes nobody and nobody acts on it. Do not thank, confirm or greet: each message costs the reader a model call.',
      "Structured messages: shutdown_request and plan_approval_response are the lead's; shutdown_response answers the lead, with the requestId of the request.",
      "The answer says that the message was delivered, how many unread ones it lies behind, and what the other is doing (busy, idle, stopped), not what they reply: a reply comes as a <teammate-message>.",
    ].join("\n"),
    schema: self === LEAD ? forLead : forMembers,
    access: (input) => ({ kind: "other", subject: input.to }),
    async run(input) {
      const body = bodyOf(input, self);
      if (typeof body === "string") return errorResult(body);
      try {
        if (input.to === "*") return await sendToAll(body);
        return await sendToOne(agentNameRegistry(await roster.read()).get(input.to) ?? input.to, body);
      } catch (error) {
        if (error instanceof CannotSend) return errorResult(error.message);
        throw error;
      }
    },
  });
}

/** The message, or what is wrong with it. */
function bodyOf({ to, summary, message, interrupt }: Input, self: string): TeamMessage | string {
  if (typeof message === "string") {
    const preview = summary?.trim().replaceAll(/\s+/g, " ");
    if (!preview) return "A text needs a summary of 5 to 10 words.";
    if (message.trim() === "") return "The message is empty.";
    if (interrupt && to === "*") return "One member is interrupted, not all: say whom.";
    if (interrupt) return { type: "message", summary: preview, text: message, interrupt };
    return { type: to === "*" ? "status_update" : "message", summary: preview, text: message };
  }
  const { type, requestId, approve, feedback } = message;
  if (interrupt) return `A text interrupts, a ${type} does not.`;
  if (to === "*") return `A ${type} goes to one member, not to all.`;
  if (type === "shutdown_response") {
    if (self === LEAD) return "A shutdown_response is a teammate's answer to the lead.";
  } else if (self !== LEAD) return `Only the lead may send a ${type}. Write to the lead instead.`;
  if (type === "shutdown_request") return { type, text: feedback ?? summary ?? "" };
  if (requestId === undefined || approve === undefined) return `A ${type} needs requestId and approve.`;
  return { type, requestId, approve, ...(feedback === undefined ? {} : { feedback }) };
}

/** An answer that reaches nothing would leave the member waiting. */
function wrongPlan(requestId: string, name: string, openPlans: ReadonlyMap<string, string> | undefined): string | undefined {
  if (openPlans === undefined || openPlans.get(requestId) === name) return undefined;
  const open = [...openPlans].map(([id, from]) => `${id} of ${from}`).join(", ");
  return `${name} has no plan ${requestId} that waits. Waiting plans: ${open || "none"}.`;
}

function hasEnded(status: MemberStatus | undefined): boolean {
  return status === "stopped" || status === "dead";
}

function isGone(status: MemberStatus | undefined): boolean {
  return status === undefined || status === "stopped" || status === "failed" || status === "dead";
}

function whenInterrupted(name: string, status: MemberStatus | undefined): string {
  return status === "busy" || status === "waiting" ? `${name}'s turn is ended, and it reads this first.` : whenRead(name, status);
}

function whenRead(name: string, status: MemberStatus | undefined): string {
  switch (status) {
    case undefined:
      return `${name} has not started yet and reads it then.`;
    case "starting":
      return `${name} is starting and reads it first.`;
    case "busy":
      return `${name} is busy and reads it before the next model call.`;
    case "waiting":
      return `${name} is waiting for an answer and reads it after that.`;
    case "idle":
      return `${name} is idle and wakes up by it.`;
    case "unreachable":
      return `${name} is suspended and reads it when it runs again.`;
    case "stopped":
    case "failed":
    case "dead":
      return `${name} is ${status}; it reads the message once it is resumed.`;
  }
}
