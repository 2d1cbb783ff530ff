import type { AssistantMessage, Message } from "../../protocol/message.ts";

/** Call ids of a history as another provider accepts them; its own go back as they came. */
export class MessageIds {
  readonly #renamed = new Map<string, string>();
  readonly #owner: string;
  readonly #maxLength: number;

  constructor(owner: string, maxLength: number) {
    this.#owner = owner;
    this.#maxLength = maxLength;
  }

  /** Results carry no provider, so the messages are to be taken in order: a result stands behind its call. */
  ofCall(message: AssistantMessage, id: string): string {
    const fits = message.provider === this.#owner || (id.length <= this.#maxLength && /^[A-Za-z0-9_-]+$/.test(id));
    if (fits) {
      this.#renamed.delete(id);
      return id;
    }
    const renamed = `${id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, this.#maxLength - 9)}_${hash(id)}`;
    this.#renamed.set(id, renamed);
    return renamed;
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
