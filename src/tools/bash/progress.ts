const EVERY_MS = 100;
/** In all; what comes after it is told once a second by its last line alone. */
const MAX_CHARACTERS = 64_000;
const MAX_AT_ONCE = 4_000;
const LAST_LINE = 200;

/** Output while it comes, for a screen: not more than it can show, however much a command prints. */
export class ProgressThrottle implements Disposable {
  readonly #emit: (text: string) => void;
  #waiting = "";
  #timer: NodeJS.Timeout | undefined;
  #sent = 0;
  #isOver = false;

  constructor(emit: (text: string) => void) {
    this.#emit = emit;
  }

  add(text: string): void {
    if (this.#isOver) return;
    this.#waiting = (this.#waiting + text).slice(-MAX_AT_ONCE);
    this.#timer ??= setTimeout(() => this.#send(), this.#sent > MAX_CHARACTERS ? 1_000 : EVERY_MS);
  }

  /** What waits goes out, and nothing more. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (!this.#isOver) this.#send();
    this.#isOver = true;
  }

  #send(): void {
    this.#timer = undefined;
    const text = this.#sent > MAX_CHARACTERS ? this.#waiting.trimEnd().slice(-LAST_LINE) : this.#waiting;
    this.#waiting = "";
    this.#sent += text.length;
    if (text !== "") this.#emit(text.replace(/^[\udc00-\udfff]/, ""));
  }
}
