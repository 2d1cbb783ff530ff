import { estimateText } from "./tokens.ts";

/** The first `max` characters or a little less: up to a line's end when one is near, never half a surrogate pair. */
export function headOf(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, max);
  const newline = head.lastIndexOf("\n");
  const cut = newline > 0 && newline >= max - Math.max(200, max / 4) ? head.slice(0, newline) : head;
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** The last `max` characters or a little less, from a line's start when one is near. */
export function tailOf(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 0) return "";
  const from = text.length - max;
  // A line that starts exactly there is whole.
  const newline = text.indexOf("\n", from - 1);
  if (newline >= 0 && newline < from + Math.max(200, max / 4)) return text.slice(newline + 1);
  return text.slice(/[\uDC00-\uDFFF]/.test(text.charAt(from)) ? from + 1 : from);
}

/** Head and tail with a note between them; at most `max` characters beside the note. */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = headOf(text, Math.ceil(max * 0.6));
  const tail = tailOf(text, Math.floor(max * 0.4));
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}

/** The same by our estimate of tokens. */
export function cutToTokens(text: string, tokens: number): string {
  if (tokens < 1) return "";
  let cut = text;
  for (let max = text.length; ; ) {
    const estimated = estimateText(cut);
    if (estimated <= tokens || max < 40) return estimated <= tokens ? cut : "";
    max = Math.floor(max * Math.min(0.9, tokens / estimated));
    cut = cutMiddle(text, max);
  }
}
