import type { TeamEvent, TeamStep } from "../../protocol/team.ts";
import { ModelSpending } from "./model-spending.ts";
import { BusySpans, TaskClaims } from "./spans.ts";

export type MessageLine = { at: string; from: string; to: string; kind: string; summary: string; text?: string };
export type ConvergenceStep = Extract<TeamStep, { type: "merge" | "gate" | "landed" | "executable" }>;
export type AgentWork = { toolCalls: number; messagesSent: number; starts: number; deaths: string[]; denied: string[] };

/** The newest are kept. */
export const MOST_MESSAGES = 2000;
/** Of one agent, whose messages are still to come into the log. */
const MOST_SENT_WORDS = 20;
const MOST_TEXT = 20_000;

/** A team's log, taken in event by event: a live page does not read it anew. */
export class TeamChronicle {
  readonly busy = new BusySpans();
  readonly claims = new TaskClaims();
  readonly spending = new ModelSpending();
  readonly works = new Map<string, AgentWork>();
  readonly convergence: { at: string; step: ConvergenceStep }[] = [];
  messages: MessageLine[] = [];
  messageCount = 0;
  /** ISO times of the first and the last event. */
  from: string | undefined;
  to: string | undefined;
  /** How the last run of the team ended; undefined while one goes on. */
  outcome: { at: string; exitCode: number; text: string } | undefined;
  readonly #sentWords = new Map<string, { summary: string; text: string }[]>();

  add(entry: TeamEvent): void {
    const time = Date.parse(entry.at);
    if (Number.isNaN(time)) return;
    this.from ??= entry.at;
    this.to = entry.at;
    this.busy.see(entry, time);
    this.claims.see(entry, time);
    this.spending.see(entry);
    this.#take(entry);
  }

  workOf(agent: string): AgentWork {
    const work = this.works.get(agent) ?? { toolCalls: 0, messagesSent: 0, starts: 0, deaths: [], denied: [] };
    this.works.set(agent, work);
    return work;
  }

  #take({ at, agent, event }: TeamEvent): void {
    switch (event.type) {
      case "tool_use":
        this.workOf(agent).toolCalls++;
        if (event.call.name === "SendMessage") this.#keepWords(agent, event.call.input);
        return;
      case "permission": {
        const { request, decision } = event;
        if (decision.decision === "deny")
          this.workOf(agent).denied.push(`${request.tool}(${request.access.subject.slice(0, 100)}): ${decision.reason}`);
        return;
      }
      case "message":
        if ("from" in event) this.#takeMessage(at, event);
        return;
      case "ready":
      case "joined":
        this.workOf(event.name).starts++;
        return;
      case "dead":
        this.workOf(event.name).deaths.push(event.how);
        return;
      // The first of each run.
      case "backend":
        this.outcome = undefined;
        return;
      case "ended":
        this.outcome = { at, exitCode: event.exitCode, text: event.text };
        return;
      case "merge":
      case "gate":
      case "landed":
      case "executable":
        this.convergence.push({ at, step: event });
        return;
      default:
        return;
    }
  }

  /** A step has the summary alone; the text stands in the call that sent it. */
  #keepWords(agent: string, { summary, message }: Record<string, unknown>): void {
    if (typeof summary !== "string" || typeof message !== "string") return;
    const words = this.#sentWords.get(agent) ?? [];
    words.push({ summary, text: message.slice(0, MOST_TEXT) });
    this.#sentWords.set(agent, words.slice(-MOST_SENT_WORDS));
  }

  #takeMessage(at: string, { from, to, kind, summary }: Extract<TeamStep, { type: "message" }>): void {
    const text = this.#sentWords.get(from)?.findLast((words) => words.summary === summary)?.text;
    this.workOf(from).messagesSent++;
    this.messages.push({ at, from, to, kind, summary, ...(text === undefined ? {} : { text }) });
    this.messageCount++;
    // Not at each one: to shift an array costs its length.
    if (this.messages.length >= 2 * MOST_MESSAGES) this.messages = this.messages.slice(-MOST_MESSAGES);
  }
}
