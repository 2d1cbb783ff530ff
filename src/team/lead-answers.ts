export type LeadAnswer = { approve: boolean; feedback?: string };

export type OpenRequest = Disposable & {
  id: string;
  /** What the lead answers; undefined on abort, or when the lead is gone. */
  answer(signal: AbortSignal): Promise<LeadAnswer | undefined>;
  isAnswered(): boolean;
};

/** Answers of the lead to requests of this member, by the id of the request. One may be here before the sender has the id. */
export class LeadAnswers {
  readonly #open = new Map<string, (answer: LeadAnswer) => void>();
  readonly #early = new Map<string, LeadAnswer>();
  readonly #untilLeadIsGone: (signal: AbortSignal) => Promise<void>;
  #sending = 0;

  /** `untilLeadIsGone` resolves when no lead lives, or on abort: a request to a lead that is gone is lost with it. */
  constructor(untilLeadIsGone: (signal: AbortSignal) => Promise<void>) {
    this.#untilLeadIsGone = untilLeadIsGone;
  }

  /** For the mail reader. False when nothing is open that this answers: an earlier process asked, or nobody waits any more. */
  take(requestId: string, answer: LeadAnswer): boolean {
    const settle = this.#open.get(requestId);
    if (settle) settle(answer);
    else if (this.#sending > 0) this.#early.set(requestId, answer);
    else return false;
    return true;
  }

  /** Sends the request. To be disposed of when the answer does not matter any more. */
  async open(send: () => Promise<string>): Promise<OpenRequest> {
    this.#sending += 1;
    try {
      const id = await send();
      let isAnswered = false;
      const answer = new Promise<LeadAnswer>((resolve) => {
        const settle = (given: LeadAnswer) => {
          isAnswered = true;
          resolve(given);
        };
        this.#open.set(id, settle);
        const early = this.#early.get(id);
        if (early) settle(early);
      });
      return {
        id,
        answer: (signal) => this.#first(answer, signal),
        isAnswered: () => isAnswered,
        [Symbol.dispose]: () => {
          this.#open.delete(id);
          this.#early.delete(id);
        },
      };
    } finally {
      this.#sending -= 1;
    }
  }

  async #first(answer: Promise<LeadAnswer>, signal: AbortSignal): Promise<LeadAnswer | undefined> {
    const end = new AbortController();
    const either = AbortSignal.any([signal, end.signal]);
    const aborted = new Promise<undefined>((resolve) => {
      if (either.aborted) resolve(undefined);
      either.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    try {
      return await Promise.race([answer, aborted, this.#untilLeadIsGone(either).then(() => undefined)]);
    } finally {
      end.abort();
    }
  }
}
