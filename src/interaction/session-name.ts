import { plainText } from "../tools/bash/plain-text.ts";

const MAX_CHARACTERS = 100;

/** A name as lists and terminals can show it; undefined when nothing visible is left of it. */
export function sessionName(text: string): string | undefined {
  const plain = plainText(text).replace(/\s+/g, " ").trim().slice(0, MAX_CHARACTERS);
  return plain === "" ? undefined : plain;
}
