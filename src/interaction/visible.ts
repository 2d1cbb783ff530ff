/** What a model, tool or file says can't act on the terminal: control codes are shown, the own dim marks stay. */
export function visible(text: string): string {
  return text.replaceAll(/\x1b(?!\[2?2?m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, (code) => {
    return `\\x${(code.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}`;
  });
}

export function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}

/** What a call is about, behind its name: `(npm test)`. */
export function shortInput(input: Record<string, unknown>): string {
  const first = Object.values(input).find((value) => typeof value === "string");
  return typeof first === "string" ? `(${firstLine(first)})` : "";
}
