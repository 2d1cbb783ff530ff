import type { ChatCompletionRequest, ChatMessage } from "@copilotkit/aimock";

export type Role = { type: "lead" } | { type: "worker"; name: string; team: string } | { type: "integrator" } | { type: "main" };
type Words = { type: "words"; from: "user" | "assistant"; text: string };
export type Call = { type: "call"; name: string; input: Record<string, unknown>; result: string };
export type Step = Words | Call;

/** A request as the scripts read it: whose it is, what happened so far, and how often the model has answered. */
export type Conversation = { role: Role; steps: Step[]; rounds: number };

/** What the scripted model says; text, calls or both. `usage` in tokens, counted by the server unless given. */
export type Answer = {
  text?: string;
  calls?: { name: string; input: Record<string, unknown> }[];
  usage?: { input: number; output: number };
};

/** From the shape into which the server brings both protocols. */
export function conversationOf(request: Pick<ChatCompletionRequest, "messages">): Conversation {
  const system = request.messages.filter((message) => message.role === "system").map(textOf);
  const steps: Step[] = [];
  const open = new Map<string, Call>();
  for (const message of request.messages) {
    if (message.role === "user") steps.push({ type: "words", from: "user", text: textOf(message) });
    if (message.role === "assistant") {
      const text = textOf(message);
      if (text !== "") steps.push({ type: "words", from: "assistant", text });
      for (const { id, function: called } of message.tool_calls ?? []) {
        const call: Call = { type: "call", name: called.name, input: inputOf(called.arguments), result: "" };
        open.set(id, call);
        steps.push(call);
      }
    }
    if (message.role === "tool") {
      const call = open.get(message.tool_call_id ?? "");
      if (call) call.result = textOf(message);
    }
  }
  // One answer over Responses comes back as several items, each a message here.
  const rounds = request.messages.filter(({ role }, index, all) => role === "assistant" && all[index - 1]?.role !== "assistant").length;
  return { role: roleOf(system.join("\n")), steps, rounds };
}

export function calls(steps: readonly Step[], name: string): Call[] {
  return steps.filter((step): step is Call => step.type === "call" && step.name === name);
}

/** A crash came in between, so whether it was done is not known: the list tells, and what can be done twice is done again. */
export function isCut(result: string): boolean {
  return result.includes("The process ended before the result was known");
}

/** The JSON objects that stand on a line of their own: how the task tools answer. */
export function jsonLines(result: string): Record<string, unknown>[] {
  // The server joins the texts of a result without a break: a reminder follows the last line directly.
  const lines = result.replaceAll(/\}(?=<(?:system-reminder|teammate-message|task-notification)\b)/g, "}\n").split("\n");
  return lines.flatMap((line) => {
    const value = line.startsWith("{") ? parse(line) : undefined;
    return value === undefined ? [] : [value];
  });
}

/** Whether something that was said or came with a result is from this member. */
export function hasMessageFrom(steps: readonly Step[], name: string): boolean {
  return steps.some((step) => (step.type === "call" ? step.result : step.text).includes(`<teammate-message from="${name}"`));
}

function roleOf(system: string): Role {
  const worker = /You are (\S+), a teammate in the team "([^"]+)"/.exec(system);
  if (worker?.[1] !== undefined && worker[2] !== undefined) return { type: "worker", name: worker[1], team: worker[2] };
  if (system.includes("You are the lead of a team of coding agents")) return { type: "lead" };
  if (system.includes("You merge the branches of a team of coding agents")) return { type: "integrator" };
  return { type: "main" };
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("\n");
}

function inputOf(text: string): Record<string, unknown> {
  return parse(text) ?? {};
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    // Words that begin with a brace.
    return undefined;
  }
}
