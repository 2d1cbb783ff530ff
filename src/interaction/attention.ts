/**
 * What comes while nobody has asked the agent anything: a question of a sub-agent in the background, or its end. The open prompt gives
 * way to it; what was typed there stays.
 */
export class Attention {
  #giveWay: AbortController | undefined;
  #questions = 0;
  #waiting: (() => void)[] = [];

  /** For the prompt: it gives way when the signal comes, and stands again after `untilQuiet`. */
  open(): AbortSignal {
    this.#giveWay = new AbortController();
    return this.#giveWay.signal;
  }

  wake(): void {
    this.#giveWay?.abort();
  }

  async ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    this.#questions += 1;
    this.wake();
    try {
      return await question();
    } finally {
      this.#questions -= 1;
      if (this.#questions === 0) for (const go of this.#waiting.splice(0)) go();
    }
  }

  /** Resolves when no question is open. */
  async untilQuiet(): Promise<void> {
    if (this.#questions > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
