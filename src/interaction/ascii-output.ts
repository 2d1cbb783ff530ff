const MARKS: Readonly<Record<string, string>> = {
  "…": "...",
  "→": "->",
  "←": "<-",
  "●": "*",
  "○": "o",
  "◐": "~",
  "•": "*",
  "·": "-",
  "–": "-",
  "—": "-",
  "─": "-",
  "│": "|",
  "✓": "+",
  "✗": "x",
  "✕": "x",
  "»": ">",
  "›": ">",
  "❯": ">",
  "«": "<",
  "“": '"',
  "”": '"',
  "‘": "'",
  "’": "'",
  ß: "ss",
};

/** What is written to a terminal that shows no UTF-8 becomes ASCII; pipes and files get all as it is. */
export function writeAscii(streams: readonly NodeJS.WriteStream[]): void {
  for (const stream of streams) {
    if (!stream.isTTY) continue;
    const write = stream.write.bind(stream);
    // The overloads of `write` differ only in what follows the text.
    stream.write = (chunk: string | Uint8Array, ...rest: never[]) => write(typeof chunk === "string" ? toAscii(chunk) : chunk, ...rest);
  }
}

/** Accents fall off; a sign without a likeness is a question mark, as tmux and iconv would have it. */
export function toAscii(text: string): string {
  return text.replaceAll(/[^\0-\x7f]/gu, (sign) => MARKS[sign] ?? (sign.normalize("NFKD").replaceAll(/[^\0-\x7f]/gu, "") || "?"));
}
