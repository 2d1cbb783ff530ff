import { setTimeout as sleep } from "node:timers/promises";
import type { Pending } from "../protocol/agent.ts";
import type { Envelope, Mailbox } from "../protocol/team.ts";
import { type ProtocolEnvelope, sortMail } from "./inbox.ts";

type MailReaderOptions = {
  mailbox: Mailbox;
  self: string;
  /** Ids that the transcript holds already. */
  seen: ReadonlySet<string>;
  /** Acts on a protocol message; it is acknowledged afterwards. */
  onProtocol: (envelope: ProtocolEnvelope) => Promise<void>;
  onSetAside: (envelope: Envelope, reason: string) => void;
  /** Before the model reads them. */
  onTaken?: (envelopes: readonly Envelope[]) => Promise<void>;
  onProblem?: (text: string) => void;
  /** Mail has come that ends the turn under way; `hasInterrupt` holds until it is taken. */
  onInterrupt?: () => void;
};

const PROBLEM_PAUSE_MS = 2_000;
const NOTHING = { wakes: false, reports: [], interrupts: false, envelopes: [] } as const;

/**
 * A member's mail between disk and conversation. What a model reads is handed out once by `take` and acknowledged when the
 * transcript holds it; protocol messages are acted on as they come, in a run as well.
 */
export class MailReader {
  readonly #options: MailReaderOptions;
  readonly #seen: Set<string>;
  /** Handed out, not yet in the transcript: a crash brings them again. */
  readonly #inFlight = new Set<string>();
  #looking: Promise<unknown> = Promise.resolve();
  /** Texts of the system that the model reads with its mail. */
  #told: string[] = [];
  #current: {
    pending?: Pending;
    wakes: boolean;
    reports: readonly string[];
    interrupts: boolean;
    envelopes: readonly Envelope[];
  } = NOTHING;
  readonly #waiting = new Set<() => void>();

  constructor(options: MailReaderOptions) {
    this.#options = options;
    this.#seen = new Set(options.seen);
  }

  /** Looks at the mail whenever some comes, until the signal. A look that fails (a full disk) is told once and made again. */
  async pump(signal: AbortSignal): Promise<void> {
    let told = false;
    while (!signal.aborted) {
      try {
        await this.#options.mailbox.arrival(signal);
        await this.look();
        told = false;
      } catch (error) {
        if (signal.aborted) return;
        if (!told) this.#options.onProblem?.(`The mail can't be read: ${error instanceof Error ? error.message : String(error)}`);
        told = true;
        await sleep(PROBLEM_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Reads the box; one look at a time. */
  async look(): Promise<void> {
    await this.#lookInTurn();
    if (this.#current.interrupts) this.#options.onInterrupt?.();
  }

  #lookInTurn(): Promise<void> {
    const next = this.#looking.then(() => this.#lookNow());
    this.#looking = next.catch(() => undefined);
    return next;
  }

  async #lookNow(): Promise<void> {
    const { mailbox, self, onProtocol, onSetAside } = this.#options;
    const unread = (await mailbox.unread()).filter((envelope) => !this.#inFlight.has(envelope.id));
    const sorted = sortMail(unread, self, this.#seen);
    for (const { envelope, reason } of sorted.setAside) onSetAside(envelope, reason);
    for (const envelope of sorted.protocol) {
      this.#seen.add(envelope.id);
      await onProtocol(envelope);
    }
    const settled = [...sorted.duplicates, ...sorted.protocol.map((one) => one.id), ...sorted.setAside.map((one) => one.envelope.id)];
    if (settled.length > 0) await mailbox.acknowledge(settled);
    const ids = new Set(sorted.pending?.mail);
    const envelopes = unread.filter(({ id }, index) => ids.has(id) && unread.findIndex((one) => one.id === id) === index);
    this.#current = {
      wakes: sorted.wakes,
      reports: sorted.reports,
      interrupts: sorted.interrupts,
      envelopes,
      ...(sorted.pending ? { pending: sorted.pending } : {}),
    };
    if (sorted.wakes) this.#wakeAll();
  }

  /** All for the model that was not handed out yet. */
  async take(): Promise<Pending | undefined> {
    // Not `look`: what interrupts is read with the next model call, so nothing need be ended for it.
    await this.#lookInTurn();
    const { pending, envelopes } = this.#current;
    const told = this.#told.splice(0);
    this.#current = NOTHING;
    for (const id of pending?.mail ?? []) this.#inFlight.add(id);
    if (envelopes.length > 0) await this.#options.onTaken?.(envelopes);
    if (told.length === 0) return pending;
    return { reminder: [...told, ...(pending ? [pending.reminder] : [])].join("\n\n"), mail: pending?.mail ?? [] };
  }

  /** Beside mail, for the model: a death, a stall, an answer that came too late. It is worth a call like mail. */
  tell(text: string): void {
    this.#told.push(text);
    this.#wakeAll();
  }

  get hasWork(): boolean {
    return this.#current.wakes || this.#told.length > 0;
  }

  /** Who said that it is done, when there is nothing else that is worth a model call. Another array after each look. */
  get reports(): readonly string[] {
    return this.#told.length > 0 ? [] : this.#current.reports;
  }

  get hasInterrupt(): boolean {
    return this.#current.interrupts;
  }

  /**
   * Resolves when mail that is worth a model call is there (`reports` that are there already do not count), or `stir` was called, or on abort, or when the time is over. The timer is
   * its own: a signal of AbortSignal.timeout inside AbortSignal.any may be collected as garbage, and then never fires.
   */
  async untilWork(signal: AbortSignal, withinMs?: number): Promise<void> {
    if ((this.hasWork && this.reports.length === 0) || signal.aborted) return;
    let wake: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const timer = withinMs === undefined ? undefined : setTimeout(wake, withinMs);
    this.#waiting.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    await woken;
    clearTimeout(timer);
    this.#waiting.delete(wake);
    signal.removeEventListener("abort", wake);
  }

  /** Ends the waits of `untilWork`: something else than mail happened. */
  stir(): void {
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake();
  }

  /** The transcript has them now. */
  async acknowledge(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#seen.add(id);
    await this.#options.mailbox.acknowledge(ids);
    for (const id of ids) this.#inFlight.delete(id);
  }
}
