import type { Agent, AgentEvent, AgentInput, LoopComplete } from "../protocol/agent.ts";
import { Interruption } from "../protocol/interruption.ts";
import { userText } from "../protocol/message.ts";
import { LEAD, type MemberStatus, type TeamBus, type TeamTask } from "../protocol/team.ts";
import type { MailReader } from "./mail-reader.ts";
import { releaseDead } from "./release-dead.ts";

export type WorkerOptions = {
  self: string;
  bus: TeamBus;
  agent: Agent;
  mail: MailReader;
  /** Set by protocol mail and by the process's own signals. */
  control: WorkerControl;
  /** Commits what is dirty in the worktree; the id, or undefined when nothing was. */
  save: (subject: string) => Promise<string | undefined>;
  /** Commits on the branch that no idle notice has told of yet. */
  newCommits: () => Promise<string[]>;
  isLeadAlive: () => Promise<boolean>;
  onEvent: (event: AgentEvent) => void;
  onStatus: (status: MemberStatus, detail?: string) => void;
  /** Asked when a run is done: words by which the member goes on instead of being idle. `isAgain`: it does so already. */
  beforeIdle?: ((text: string, isAgain: boolean) => Promise<string | undefined>) | undefined;
  leadCheckMs: number;
  orphanTimeoutMs: number;
};

export type WorkerEnd = "shutdown" | "orphaned";

/** So often in a row a member is kept from being idle; then the lead is told. */
const MAX_CONTINUATIONS = 8;

const STOP = "a request to stop";

/** What others want of a worker beside mail for its model. */
export class WorkerControl {
  shutdown: { requestId?: string; reason: string } | undefined;
  orphaned = false;
  /** Ends a wait for mail, so that a shutdown does not wait for its end. */
  onShutdown: () => void = () => undefined;
  #run: AbortController | undefined;

  /** A run's signal; `interrupt` ends it. */
  begin(): AbortSignal {
    this.#run = new AbortController();
    if (this.shutdown) this.interrupt(STOP);
    return this.#run.signal;
  }

  /** `by` is for the words of what it cuts off: "interrupted by the lead". */
  interrupt(by: string): void {
    this.#run?.abort(new Interruption(by));
  }

  requestShutdown(reason: string, requestId?: string): void {
    this.shutdown ??= { reason, ...(requestId === undefined ? {} : { requestId }) };
    this.interrupt(STOP);
    this.onShutdown();
  }
}

/**
 * A teammate's life: run, save, report idle, wait, run again, until it is asked to stop or its lead stays away.
 * Whatever ends a run, the work in the worktree is committed before anyone is told.
 */
export async function runWorker(first: AgentInput | undefined, options: WorkerOptions, signal: AbortSignal): Promise<WorkerEnd> {
  const { self, bus, mail, control } = options;
  const announced = { text: "" };
  let input = first;
  let continuations = 0;
  for (;;) {
    if (input === undefined) continuations = 0;
    input ??= await nextInput(options, signal);
    if (input === undefined || control.shutdown) return stop(options);
    if (control.orphaned && !(await leadReturns(options, signal))) return orphan(options);

    // The roster's mark beside the run: who was woken must not wait for all that write it at the same time.
    const marked = setActive(options, true);
    marked.catch(() => undefined);
    await beat(options, "busy");
    const end = await runOnce(input, options);
    input = undefined;
    await marked;
    await options.save(await subjectOfWork(options));
    if (control.shutdown) return stop(options);
    if (control.orphaned) {
      if (!(await leadReturns(options, signal))) return orphan(options);
      // The round that was cut short is complete in the transcript: the model goes on from there.
      input = { message: userText("<system-reminder>The lead is back. Go on with your work.</system-reminder>") };
      continue;
    }
    if (end.reason === "aborted") {
      input = await afterInterrupt(mail);
      continue;
    }
    const goOn = end.reason === "end_turn" ? await options.beforeIdle?.(end.text, continuations > 0) : undefined;
    if (goOn !== undefined && continuations < MAX_CONTINUATIONS) {
      continuations += 1;
      input = { message: userText(goOn) };
      continue;
    }
    // Its model is out of reach: others can do what it held.
    const returned =
      end.error === undefined ? [] : await giveBackTasks(`Its model failed: ${end.error.message} What it did is on its branch.`);
    const note = goOn === undefined ? "" : `\n(A hook wanted it to go on ${MAX_CONTINUATIONS} times and still does.)`;
    await reportIdle({ ...end, text: `${end.text}${note}` }, announced, returned, options);
    if (mail.hasWork) await beat(options, "busy");
    else await beat(options, end.reason === "error" ? "failed" : "idle", end.reason === "budget" ? end.text : end.error?.message);
    await setActive(options, mail.hasWork);
  }

  async function runOnce(message: AgentInput, { agent, onEvent }: WorkerOptions): Promise<LoopComplete> {
    let end: LoopComplete | undefined;
    const run = control.begin();
    // It came between the last look for mail and this run.
    if (mail.hasInterrupt) control.interrupt("the lead");
    for await (const event of agent.run(message, run)) {
      if ((event.type === "message" || event.type === "round_end") && event.mail && event.mail.length > 0) {
        await mail.acknowledge(event.mail);
      }
      if (event.type === "turn_start" && !(await options.isLeadAlive())) {
        control.orphaned = true;
        control.interrupt("the loss of its lead");
      }
      if (event.type === "loop_complete") end = event;
      onEvent(event);
    }
    if (!end) throw new Error(`The loop of ${self} ended without loop_complete.`);
    return end;
  }

  async function subjectOfWork({ bus: { tasks } }: WorkerOptions): Promise<string> {
    const own = (await tasks.list()).find((task) => task.status === "in_progress" && task.owner === self);
    return own ? `wip: ${own.subject}` : `wip: unfinished work of ${self}`;
  }

  /** Its work is saved; what it had claimed is free for others, with a word on where the work lies. */
  async function giveBackTasks(note: string): Promise<TeamTask[]> {
    return releaseDead(
      bus.tasks,
      (claim) => claim.owner !== self,
      async () => note,
    );
  }

  async function stop({ save }: WorkerOptions): Promise<WorkerEnd> {
    await save(await subjectOfWork(options));
    await giveBackTasks("It was stopped; what it did is on its branch.");
    const { requestId } = control.shutdown ?? {};
    await bus.roster.update((team) => withMember(team, self, { isActive: false, stoppedAt: new Date().toISOString() }));
    // Before the answer: who has read that must not take it for one that still reads.
    await beat(options, "stopped", control.shutdown?.reason);
    if (requestId !== undefined) await bus.mailbox.send(LEAD, { type: "shutdown_response", requestId, approve: true });
    return "shutdown";
  }

  async function orphan({ save }: WorkerOptions): Promise<WorkerEnd> {
    await save(await subjectOfWork(options));
    await bus.roster.update((team) => withMember(team, self, { isActive: false, stoppedAt: new Date().toISOString() }));
    await beat(options, "stopped", "the lead is gone");
    return "orphaned";
  }
}

/** The lead's words are the next that is read. Where the cut round took them with it already, they stand in the transcript. */
async function afterInterrupt(mail: MailReader): Promise<AgentInput> {
  const pending = await mail.take();
  if (pending) return { message: userText(pending.reminder), mail: pending.mail };
  return { message: userText("<system-reminder>The lead interrupted your turn; its message is the last one above.</system-reminder>") };
}

/** Waits for mail that is worth a model call; watches meanwhile that the lead lives. Undefined when the worker is to stop. */
async function nextInput(options: WorkerOptions, signal: AbortSignal): Promise<AgentInput | undefined> {
  const { mail, control } = options;
  for (;;) {
    if (signal.aborted || control.shutdown) return undefined;
    const pending = mail.hasWork ? await mail.take() : undefined;
    if (pending) return { message: userText(pending.reminder), mail: pending.mail };
    await mail.untilWork(signal, options.leadCheckMs);
    if (!(await options.isLeadAlive())) {
      control.orphaned = true;
      if (!(await leadReturns(options, signal))) return undefined;
      // Who says "waiting" counts as at work, and the new lead would wait for it.
      await beat(options, "idle");
    }
  }
}

/** Parked: no model call, no claim. True when a lead is there again before the time is over. */
async function leadReturns(options: WorkerOptions, signal: AbortSignal): Promise<boolean> {
  const { control, mail } = options;
  await beat(options, "waiting", "for a lead: the last one is gone");
  const until = Date.now() + options.orphanTimeoutMs;
  while (Date.now() < until && !signal.aborted && !control.shutdown) {
    if (await options.isLeadAlive()) {
      control.orphaned = false;
      return true;
    }
    await mail.untilWork(signal, Math.min(options.leadCheckMs, Math.max(1, until - Date.now())));
    // Mail of peers does not end the wait, and must not make it spin.
    if (mail.hasWork) await new Promise((resolve) => setTimeout(resolve, Math.min(options.leadCheckMs, 200)));
  }
  control.shutdown ??= { reason: "the lead is gone" };
  return false;
}

/** One notice for each real change: other words or new commits. */
async function reportIdle(
  end: LoopComplete,
  announced: { text: string },
  returned: readonly TeamTask[],
  options: WorkerOptions,
): Promise<void> {
  const commits = await options.newCommits();
  const back = returned.length === 0 ? "" : ` Back on the list: ${returned.map(({ id, subject }) => `${id} (${subject})`).join(", ")}.`;
  const text = `${end.error?.message ?? end.text}${back}`;
  if (commits.length === 0 && text === announced.text && announced.text !== "") return;
  announced.text = text;
  const own = (await options.bus.tasks.list()).filter((task) => task.status === "in_progress" && task.owner === options.self);
  const reason =
    end.reason === "error" ? "failed" : end.reason === "budget" || end.reason === "hook" ? "blocked" : own.length > 0 ? "waiting" : "done";
  await options.bus.mailbox.send(LEAD, { type: "idle_notification", reason, lastText: text, commits });
}

async function beat({ bus, self, onStatus }: WorkerOptions, status: MemberStatus, detail?: string): Promise<void> {
  onStatus(status, detail);
  await bus.presence.beat({ name: self, status, at: new Date().toISOString(), ...(detail ? { detail } : {}) });
}

async function setActive({ bus, self }: WorkerOptions, isActive: boolean): Promise<void> {
  await bus.roster.update((team) => withMember(team, self, { isActive }));
}

export function withMember<Team extends { members: { name: string }[] }>(
  team: Team,
  name: string,
  change: Partial<Team["members"][number]>,
): Team {
  return { ...team, members: team.members.map((member) => (member.name === name ? { ...member, ...change } : member)) };
}
