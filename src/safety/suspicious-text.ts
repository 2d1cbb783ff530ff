import type { Part } from "./command-line.ts";

const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2028\u2029\u0085]|\p{Bidi_Control}/u;
const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u, /\p{Script=Cherokee}/u];

/** Characters by which a person reads something else than the shell runs. */
export function suspiciousText(text: string, parts: readonly Part[]): string[] {
  const problems: string[] = [];
  if (text.includes("\r")) problems.push("the command has a carriage return");
  if (/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/.test(text)) problems.push("the command has a terminal control character");
  if (INVISIBLE.test(text)) problems.push("the command has invisible or direction-changing characters");
  const name = parts.map((part) => part.words[0]?.text ?? "").find((word) => SCRIPTS.filter((script) => script.test(word)).length > 1);
  if (name !== undefined) problems.push(`the command name "${name}" mixes alphabets`);
  return problems;
}

/** The text with such characters made visible, for a prompt. */
export function visibleText(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]|\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}|[\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
