/** What output would do to a terminal: colours, titles, cursor moves. C1 codes are the same in one character. */
const SEQUENCES =
  /(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|(?:\x1b[P^_X]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\|\x9c)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]/g;
/** Tab and newline stay. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
/** They change the order in which a person reads, or are read by models alone. */
const DECEIVING = /[\u202a-\u202e\u2066-\u2069]|(?:\u{e0001}|[\u{e0020}-\u{e007f}])+/gu;
const ODD = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\udb40/;

/** Whole lines of output, harmless for model and screen: a line that overwrites itself is what it came to in the end. */
export function plainText(output: string): string {
  if (!ODD.test(output)) return output;
  const text = output.replaceAll(SEQUENCES, "").replaceAll("\r\n", "\n");
  const lines = text.includes("\r") ? text.split("\n").map(overwritten).join("\n") : text;
  return withoutOverstrikes(lines).replaceAll(CONTROLS, "").replaceAll(DECEIVING, shown);
}

/** Of a line that is still open too: only its last frame can still be seen. */
export function overwritten(line: string): string {
  if (!line.includes("\r")) return line;
  const end = line.replace(/\r+$/, "");
  return end.slice(end.lastIndexOf("\r") + 1);
}

/** As manual pages make letters bold: the letter, a step back, the letter again. */
function withoutOverstrikes(text: string): string {
  return text.includes("\b") ? text.replaceAll(/[^\n\b]\x08(?=[^\n\b])/gu, "") : text;
}

function shown(codes: string): string {
  const first = codes.codePointAt(0) ?? 0;
  return first >= 0xe0000 ? `[${[...codes].length} invisible characters]` : `[U+${first.toString(16).toUpperCase()}]`;
}
