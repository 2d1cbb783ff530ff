import type { AgentEvent } from "../protocol/agent.ts";
import { LEAD, type TeamStep } from "../protocol/team.ts";
import type { TeamScreen } from "../runtime/run-team.ts";
import { retryText } from "../team/agent-presence.ts";
import type { LeadAnswer } from "../team/lead-answers.ts";
import type { Attention } from "./attention.ts";
import type { Screen } from "./screen.ts";

/** The lead's terminal: its own talk, its team's steps, everybody's questions. */
export function plainTeamScreen(screen: Screen): TeamScreen {
  const askHuman: NonNullable<TeamScreen["askHuman"]> = (alwaysRule, request, decision, signal) =>
    screen.askPermission(request, decision, alwaysRule, signal);
  return {
    event: (event) => screen.event(event),
    integrator: (event) => screen.event(event, "integrator"),
    status: () => undefined,
    note: (text) => screen.dim(text),
    step: (step) => {
      const text = stepText(step);
      if (text !== undefined) screen.dim(text);
    },
    askHuman,
    askPlan: (from, plan, signal) => askPlan(screen, from, plan, signal),
    askUser: (question, options, signal) => screen.choose(question, options, signal),
    memberScreen: (name) => ({
      event: (event) => memberEvent(screen, name, event),
      status: () => undefined,
      note: (text) => screen.dim(`${name}: ${text}`),
    }),
  };
}

/** Of a team that grew out of a conversation: its lead is one of those who share the screen, and the open prompt gives way to questions. */
export function sessionTeamScreen(screen: Screen, attention: Attention, team: string): TeamScreen {
  const plain = plainTeamScreen(screen);
  const lead = `${team} lead`;
  let lastStep: string | undefined;
  return {
    ...plain,
    event: (event) => {
      const display = event.type === "tool_result" ? event.result.display : undefined;
      // The step has said it already.
      if (display?.type !== "text" || display.text !== lastStep) screen.event(event, lead);
    },
    integrator: (event) => screen.event(event, `${team} integrator`),
    note: (text) => screen.dim(`${team}: ${text}`),
    step: (step) => {
      const text = stepText(step);
      lastStep = text;
      if (text !== undefined) screen.dim(`${team}: ${text}`);
    },
    askHuman: async (alwaysRule, request, decision, signal) =>
      attention.ask(() =>
        screen.askPermission(request.agent === LEAD ? { ...request, agent: lead } : request, decision, alwaysRule, signal),
      ),
    askPlan: async (from, plan, signal) => attention.ask(() => askPlan(screen, from, plan, signal)),
    askUser: async (...question) => attention.ask(() => screen.choose(...question)),
  };
}

async function askPlan(screen: Screen, from: string, plan: string, signal: AbortSignal): Promise<LeadAnswer | undefined> {
  screen.line(`The plan of ${from}:\n\n${plan}\n`);
  for (;;) {
    const answer = (await screen.ask(`${from} changes nothing before. Approve? [y]es, or say what to change > `, signal))?.trim();
    if (answer === undefined) return undefined;
    if (/^y(es)?$/i.test(answer)) return { approve: true };
    if (/^no?$/i.test(answer)) return { approve: false, feedback: "No. The person did not say what to change; ask them through the lead." };
    if (answer.length > 1) return { approve: false, feedback: answer };
  }
}

/** Of a teammate inside this process only what does not come by the team's log: its calls and its words. */
function memberEvent(screen: Screen, name: string, event: AgentEvent): void {
  if (event.type === "tool_use" || event.type === "message" || event.type === "notice") screen.event(event, name);
}

/** For `-p`: steps and notes on stderr, nobody is asked. */
export function headlessTeamScreen(
  write: (text: string) => void,
  onEvent: (event: AgentEvent) => void,
  onQuestion: () => void,
): TeamScreen {
  const wait = (agent: string, event: AgentEvent) => {
    if (event.type === "retry") write(`${agent}: ${retryText(event)}`);
  };
  return {
    event: (event) => {
      onEvent(event);
      wait(LEAD, event);
    },
    integrator: (event) => wait("integrator", event),
    status: () => undefined,
    note: write,
    step: (step) => {
      const text = stepText(step);
      if (text !== undefined) write(text);
    },
    askUser: async () => {
      onQuestion();
      return undefined;
    },
    memberScreen: (name) => ({ event: () => undefined, status: () => undefined, note: (text) => write(`${name}: ${text}`) }),
  };
}

/** One line a step; undefined for what a person need not see as it happens. */
export function stepText(step: TeamStep): string | undefined {
  switch (step.type) {
    case "backend":
      return `Teammates run on backend ${step.kind}: ${step.reason}.`;
    case "spawned":
      return undefined;
    case "ready":
      return `${step.name} is ready (pid ${step.pid}).`;
    case "joined":
      return `${step.name} joined (pid ${step.pid}).`;
    case "message":
      return `${step.from} → ${step.to}: ${step.summary}`;
    case "task":
      return `Task ${step.id} ${step.status}${step.owner ? ` (${step.owner})` : ""}: ${step.subject}`;
    case "mail_rejected":
      return `${step.name} set aside ${step.file}: ${step.reason}.`;
    case "idle":
      return `${step.name} is idle: ${step.reason}`;
    case "dead":
      return `${step.name} died: ${step.how}.`;
    case "executable":
      return `The branch of ${step.name} changes what can run by itself: ${step.files.slice(0, 20).join(", ")}${step.files.length > 20 ? ` and ${step.files.length - 20} more` : ""}. Look at it: git diff ...${step.branch}`;
    case "merge":
      if (step.refused !== undefined) return `Merge of ${step.name} taken back: ${step.refused.split("\n", 1)[0]}`;
      if (step.conflict !== undefined) return `Conflict in the merge of ${step.name}: ${step.conflict.join(", ")}`;
      return `Merged ${step.name}${step.commit ? ` (${step.commit.slice(0, 8)})` : ""}.`;
    case "gate":
      return `Check "${step.command}" ${step.ok ? "passed" : "failed"}.`;
    case "landed":
      return `Branch ${step.branch} is at ${step.commit.slice(0, 8)} now.`;
    case "ended":
      return `The team's run ended with exit ${step.exitCode}.`;
    case "cleaned":
      return `Tidied: worktrees and branches removed of ${step.removed.join(", ") || "nobody"}${step.kept.length > 0 ? `, kept of ${step.kept.join(", ")}` : ""}.`;
  }
}
