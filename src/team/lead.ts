import { isAlive } from "../platform/process.ts";
import type { Agent, AgentEvent, AgentInput, LoopComplete } from "../protocol/agent.ts";
import { userText } from "../protocol/message.ts";
import { type AgentState, LEAD, type MemberStatus, type TeamBus, type TeamTask } from "../protocol/team.ts";
import type { ConvergeReport } from "./converge/report.ts";
import type { DeathWatch } from "./death-watch.ts";
import type { MailReader } from "./mail-reader.ts";
import { stallText } from "./stall.ts";
import { claimable } from "./task-rules.ts";

export type LeadOptions = {
  bus: TeamBus;
  agent: Agent;
  mail: MailReader;
  deaths: DeathWatch;
  merge: boolean;
  /** Once for each plan that a member waits with: words for a lead that has not answered. */
  unanswered?: () => string | undefined;
  /** A sub-agent of the lead's own works in the background: its end wakes the lead. */
  hasHelpers?: () => boolean;
  /** Messages that lie unread in a member's box and will wake it: news lies there until something else does. */
  unreadOf: (name: string) => Promise<number>;
  /** The system's own call, when the model does not make it. */
  converge: (signal: AbortSignal) => Promise<ConvergeReport>;
  /** Of the last Converge that came to its end. */
  report: () => ConvergeReport | undefined;
  onEvent: (event: AgentEvent) => void;
  onStatus: (status: MemberStatus, detail?: string) => void;
  monitorMs: number;
};

export type LeadEnd =
  | { type: "converged"; report: ConvergeReport; text: string }
  | { type: "nothing_to_merge"; allCompleted: boolean; text: string }
  | { type: "interrupted" }
  /** The team's cap is reached; `report` is of a Converge that did not bring all home. */
  | { type: "over_budget"; sentence: string; report?: ConvergeReport }
  | { type: "failed"; end: LoopComplete };

/** Between two mails: a lead that changes tasks about without giving anyone work comes to an end. */
const MAX_REMINDERS = 3;
/** So long the word that one is done waits for the others' while they are at work and nothing could be given to it. */
const HOLD_MS = 20_000;
const BUSY: readonly MemberStatus[] = ["starting", "busy", "waiting", "unreachable"];

/**
 * The lead's life: run, wait for mail, run again. It is over when its turn ends and Converge has finished, or when nobody is
 * busy: then one reminder of how things stand, and when they still stand so, the system converges by itself.
 */
export async function runLead(first: AgentInput, options: LeadOptions, signal: AbortSignal): Promise<LeadEnd> {
  const { bus, agent, mail, deaths } = options;
  let input: AgentInput | undefined = first;
  let said: string | undefined;
  let reminders = 0;
  let isRunning = false;
  let heldSince: number | undefined;
  const monitor = setInterval(() => {
    // While the lead waits, `someoneMoves` looks. A look that fails (a full disk) is made again at the next tick.
    if (isRunning) watchDeaths().catch(() => undefined);
  }, options.monitorMs);
  try {
    for (;;) {
      if (input) {
        await beat("busy");
        const end = await runOnce(input);
        input = undefined;
        if (signal.aborted || end.reason === "aborted") return { type: "interrupted" };
        if (end.reason === "error") return { type: "failed", end };
        const report = options.report();
        if (end.reason === "budget" && report?.exitCode !== 0)
          return { type: "over_budget", sentence: end.text, ...(report ? { report } : {}) };
        if (report) return { type: "converged", report, text: end.text };
        await beat("idle");
      }
      if (signal.aborted) return { type: "interrupted" };
      const { reports } = mail;
      const isHeld = reports.length > 0 && (await canWait(reports));
      if (mail.hasWork && !(isHeld && mail.reports.length > 0)) {
        heldSince = undefined;
        input = await nextFromMail();
        reminders = 0;
        continue;
      }
      // Who waits for the lead counts as at work, and each would wait for the other.
      const unanswered = options.unanswered?.();
      if (unanswered !== undefined) {
        input = { message: userText(unanswered) };
        continue;
      }
      if (await someoneMoves()) {
        // Another one is done since, and may have been the last.
        if (mail.reports === reports || !mail.hasWork) await mail.untilWork(signal, options.monitorMs);
        continue;
      }
      const tasks = await bus.tasks.list();
      const stall = stallText(tasks, await bus.presence.list());
      if (stall !== said && reminders < MAX_REMINDERS) {
        said = stall;
        reminders += 1;
        input = { message: userText(reminder(stall, options.merge)) };
        continue;
      }
      return finish(tasks);
    }
  } finally {
    clearInterval(monitor);
  }

  async function runOnce(message: AgentInput): Promise<LoopComplete> {
    let end: LoopComplete | undefined;
    isRunning = true;
    for await (const event of agent.run(message, signal)) {
      if ((event.type === "message" || event.type === "round_end") && event.mail && event.mail.length > 0)
        await mail.acknowledge(event.mail);
      if (event.type === "loop_complete") end = event;
      options.onEvent(event);
    }
    isRunning = false;
    if (!end) throw new Error("The lead's loop ended without loop_complete.");
    return end;
  }

  async function nextFromMail(): Promise<AgentInput | undefined> {
    const pending = await mail.take();
    return pending && { message: userText(pending.reminder), mail: pending.mail };
  }

  /** All that there is to read is that some are done, while others are at work: their ends are read in one turn. */
  async function canWait(reports: readonly string[]): Promise<boolean> {
    heldSince ??= Date.now();
    if (Date.now() - heldSince > HOLD_MS || claimable(await bus.tasks.list()).length > 0) return false;
    const states = await bus.presence.list();
    return states.some(({ name, status }) => name !== LEAD && !reports.includes(name) && (status === "busy" || status === "starting"));
  }

  async function watchDeaths(): Promise<void> {
    for (const text of await deaths.look()) mail.tell(text);
  }

  /** Someone works, or has mail that will wake them. */
  async function someoneMoves(): Promise<boolean> {
    await watchDeaths();
    if (mail.hasWork || options.hasHelpers?.()) return true;
    // Mail before states: who takes its mail says first that it is busy, so one of the two shows it.
    const written = new Set<string>();
    // What is left of a member that is no longer one moves nothing.
    const { members } = await bus.roster.read();
    const names = new Set(members.map((member) => member.name));
    // Whose model failed lives on, and a message wakes it as well.
    const living = new Set(members.flatMap(({ name, process }) => (process && isAlive(process) ? [name] : [])));
    const sleeps = ({ name, status }: AgentState) => status === "idle" || (status === "failed" && living.has(name));
    for (const name of names) if ((await options.unreadOf(name)) > 0) written.add(name);
    const states = (await bus.presence.list()).filter((state) => names.has(state.name));
    if (states.some((state) => BUSY.includes(state.status) || (sleeps(state) && written.has(state.name)))) return true;
    for (const state of states) if (sleeps(state) && (await options.unreadOf(state.name)) > 0) return true;
    // A member reports idle after its last message is out: one more look catches what came in between.
    await mail.look();
    return mail.hasWork;
  }

  async function finish(tasks: readonly TeamTask[]): Promise<LeadEnd> {
    const allCompleted = tasks.every((task) => task.status === "completed");
    if (!options.merge) return { type: "nothing_to_merge", allCompleted, text: "Branches and worktrees stay, as --no-merge says." };
    const report = await options.converge(signal);
    if (signal.aborted) return { type: "interrupted" };
    if (report.merged.length === 0 && report.unmerged.length === 0) {
      return { type: "nothing_to_merge", allCompleted, text: "No teammate has made a commit." };
    }
    return { type: "converged", report, text: report.text };
  }

  async function beat(status: MemberStatus): Promise<void> {
    options.onStatus(status);
    await bus.presence.beat({ name: LEAD, status, at: new Date().toISOString() });
  }
}

function reminder(stall: string, merge: boolean): string {
  const next = merge ? "Call Converge when the work is complete" : "Nothing will be merged in this run; end with your report";
  return `<system-reminder>No teammate is busy. ${stall} ${next}, or give someone work. This is said once.</system-reminder>`;
}
