type Waiting = { text: string; isCommand: boolean };

/** What the person typed while the agent worked: messages until the next round takes them, commands until the agent is done. */
export class SteeringQueue {
  readonly #waiting: Waiting[] = [];

  get messages(): readonly string[] {
    return this.#waiting.map(({ text }) => text);
  }

  add(text: string): void {
    this.#waiting.push({ text, isCommand: false });
  }

  addCommand(line: string): void {
    this.#waiting.push({ text: line, isCommand: true });
  }

  /** `number` counts from 1; false when there is no such message. An empty text takes it out. */
  replace(number: number, text: string): boolean {
    const found = this.#waiting[number - 1];
    if (!found) return false;
    if (text.trim() === "") this.#waiting.splice(number - 1, 1);
    else found.text = text;
    return true;
  }

  clear(): void {
    this.#waiting.length = 0;
  }

  /** As one message all that was typed before the first command; undefined when nothing waits. */
  take(): string | undefined {
    const command = this.#waiting.findIndex(({ isCommand }) => isCommand);
    const taken = this.#waiting.splice(0, command < 0 ? this.#waiting.length : command);
    return taken.length === 0 ? undefined : taken.map(({ text }) => text).join("\n\n");
  }

  /** The command that is next; undefined when there is none, or a message before it. */
  takeCommand(): string | undefined {
    return this.#waiting[0]?.isCommand ? this.#waiting.shift()?.text : undefined;
  }
}
