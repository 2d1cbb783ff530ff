import type { Line, Part } from "./command-line.ts";

/** Each simple command as a command line that means the same, its words quoted where they need it. */
export function partSources(line: Line): string[] {
  return [...new Set(line.parts.filter((part) => part.words.length > 0 && !hidesIn(part)).map(source))];
}

/** A wrapper and a script stand for what they open. */
function hidesIn(part: Part): boolean {
  return part.opened !== undefined && part.opened.how !== "opaque" && part.opened.parts.length > 0;
}

function source(part: Part): string {
  const assignments = part.assignments.map(({ name, value }) => `${name}=${quote(value.text, value.isKnown)}`);
  const redirects = part.redirects
    .filter((redirect) => !redirect.isCopy)
    .map(({ use, target }) => `${use === "write" ? ">" : "<"} ${quote(target.text, target.isKnown)}`);
  const words = part.words.map((word) => quote(word.text, word.isKnown && !word.hasGlob));
  return [...assignments, ...words, ...redirects].join(" ");
}

/** What is only known when it runs stays as it was written. */
function quote(text: string, isKnown: boolean): string {
  if (!isKnown || /^[\w@%+=:,./-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
