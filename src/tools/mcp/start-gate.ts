import { availableParallelism } from "node:os";

/** Each takes a core for a moment, and the first request wants one too. */
const AT_ONCE = Math.max(2, availableParallelism());
/** One that takes longer waits for something else; the next may begin. */
const TURN_MS = 1_000;

/** Lets programs start a few at a time: ten at once keep everything else from its work, and none is there sooner for it. */
export class StartGate {
  #free = AT_ONCE;
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it may start. */
  turn(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Its turn ends with its start, or when it has taken too long. */
  async end(start: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, TURN_MS).unref();
    });
    await Promise.race([start, limit]);
    clearTimeout(timer);
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
