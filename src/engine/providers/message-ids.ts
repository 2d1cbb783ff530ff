import type { AssistantMessage, Message } from "../../protocol/message.ts";

/** Call ids of a history as another provider accepts them; its own go back as they came. */
export class MessageIds {
  readonly #renamed = new Map<string, string>();
  readonly #owner: string;
  readonly #length: number | "nine";

  /** At most so many characters, or exactly nine letters and digits. */
  constructor(owner: string, length: number | "nine") {
    this.#owner = owner;
    this.#length = length;
  }

  /** Results carry no provider, so the messages are to be taken in order: a result stands behind its call. */
  ofCall(message: AssistantMessage, id: string): string {
    if (this.#fits(message, id)) {
      this.#renamed.delete(id);
      return id;
    }
    const renamed =
      this.#length === "nine"
        ? `${hash(id)}${hash(`${id}.`)[7]}`
        : `${id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, this.#length - 9)}_${hash(id)}`;
    this.#renamed.set(id, renamed);
    return renamed;
  }

  #fits(message: AssistantMessage, id: string): boolean {
    if (this.#length === "nine") return /^[A-Za-z0-9]{9}$/.test(id);
    return message.provider === this.#owner || (id.length <= this.#length && /^[A-Za-z0-9_-]+$/.test(id));
  }

  ofResult(id: string): string {
    return this.#renamed.get(id) ?? id;
  }
}

export function usedCallIds(messages: readonly Message[]): Set<string> {
  return new Set(messages.flatMap((message) => message.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []))));
}

/** Only has to tell the ids of one conversation apart, and to be the same in every request (FNV-1a). */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, "0");
}
