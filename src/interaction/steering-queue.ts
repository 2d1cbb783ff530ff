/** What the person typed while the agent worked, until the next round takes it. */
export class SteeringQueue {
  readonly #messages: string[] = [];

  get messages(): readonly string[] {
    return this.#messages;
  }

  add(text: string): void {
    this.#messages.push(text);
  }

  /** `number` counts from 1; false when there is no such message. An empty text takes it out. */
  replace(number: number, text: string): boolean {
    if (!Number.isInteger(number) || number < 1 || number > this.#messages.length) return false;
    if (text.trim() === "") this.#messages.splice(number - 1, 1);
    else this.#messages[number - 1] = text;
    return true;
  }

  clear(): void {
    this.#messages.length = 0;
  }

  /** All of it as one message; undefined when nothing waits. */
  take(): string | undefined {
    const text = this.#messages.splice(0).join("\n\n");
    return text === "" ? undefined : text;
  }
}
