import { isRecord } from "../../protocol/record.ts";
// Servers send what they like, so every value from the wire is read through these: what has another type counts as absent.

export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of path) found = typeof found === "object" && found !== null ? Reflect.get(found, key) : undefined;
  return found;
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

/** A count above zero; 0, null and nonsense are "nothing said". */
export function countAt(value: unknown, ...path: readonly (string | number)[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === "number" && found > 0 ? found : undefined;
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** `undefined` for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A call's input: no text at all is {}, what is no JSON object is null and never repaired. */
export function parseArguments(json: string): Record<string, unknown> | null {
  if (json.trim() === "") return {};
  const value = parseJson(json);
  return isRecord(value) ? value : null;
}
