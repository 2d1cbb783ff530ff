import { isRecord } from "../../protocol/record.ts";
import { at, parseJson, textAt } from "./wire.ts";

/** One call of a chat completion while its pieces arrive. `index` counts the calls of the answer. */
export type PendingCall = { index: number; wireIndex: number | undefined; wireId: string; name: string; json: string };

/**
 * Which call a piece belongs to. Servers number calls, or only give ids, or give neither after the first piece; some say
 * index 0 for each call, and some repeat id and name in every piece.
 */
export class CallFragments {
  readonly calls: PendingCall[] = [];

  /** Adds a piece; `isNew` when a call began with it. `json` is what it brought of the arguments. */
  add(fragment: unknown): { call: PendingCall; isNew: boolean; json: string } {
    const name = textAt(fragment, "function", "name");
    const id = textAt(fragment, "id");
    const json = argumentText(at(fragment, "function", "arguments"));
    const wireIndex = at(fragment, "index");
    const index = typeof wireIndex === "number" ? wireIndex : undefined;
    const found = this.#find(index, id);
    if (found && !startsAnother(found, { id, name, json })) {
      found.name = joinName(found.name, name);
      found.wireId ||= id;
      found.json += json;
      return { call: found, isNew: false, json };
    }
    const call: PendingCall = { index: this.calls.length, wireIndex: index, wireId: id, name, json };
    this.calls.push(call);
    return { call, isNew: true, json };
  }

  #find(index: number | undefined, id: string): PendingCall | undefined {
    if (index !== undefined) return this.calls.findLast((call) => call.wireIndex === index);
    if (id !== "") return this.calls.findLast((call) => call.wireId === id);
    return this.calls.at(-1);
  }
}

/** A piece with a name begins another call if its id is another one, or if the call it would extend is whole already. */
function startsAnother(found: PendingCall, piece: { id: string; name: string; json: string }): boolean {
  if (piece.name === "") return false;
  if (piece.id !== "" && found.wireId !== "" && piece.id !== found.wireId) return true;
  return piece.json.trim() !== "" && found.json.trim() !== "" && isRecord(parseJson(found.json));
}

/** A name comes whole, in pieces, or again and again. */
function joinName(name: string, piece: string): string {
  return piece.startsWith(name) ? piece : name + piece;
}

function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return isRecord(value) ? JSON.stringify(value) : "";
}
