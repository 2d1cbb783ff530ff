import { cutToTokens } from "../cut.ts";
import { estimateText } from "../tokens.ts";
import type { Unit } from "./conversation.ts";
import type { Words } from "./new-history.ts";

/** Less of a round than this says nothing. */
const MIN_TOKENS = 50;

/**
 * Newest first until `tokens` are used up, in their old order. The very last words, and the last of the person's own, always
 * stay: word for word unless they are larger than `last` together.
 */
export function keepWords(
  words: readonly (Words & { tokens: number })[],
  tokens: number,
  last: number,
): { kept: Words[]; leftOut: number } {
  const sure = new Set([words.length - 1, words.findLastIndex(({ isMail }) => !isMail)]);
  const kept: Words[] = [];
  let left = tokens;
  let isFull = false;
  for (const [index, one] of [...words.entries()].toReversed()) {
    const cost = one.tokens;
    isFull ||= cost > left && !sure.has(index);
    if (isFull && !sure.has(index)) continue;
    const most = Math.floor(last / sure.size);
    kept.unshift({ text: sure.has(index) && cost > most ? cutToTokens(one.text, most) : one.text, isMail: one.isMail });
    left -= cost;
  }
  return { kept, leftOut: words.length - kept.length };
}

/** Whole rounds, newest first, as one text; of the newest at least a part. `leftOut` counts rounds. */
export function keepUnits(units: readonly Unit[], tokens: number): { text: string; leftOut: number } {
  let left = tokens;
  let first = units.length;
  while (first > 0) {
    const cost = estimateText(units[first - 1]?.text ?? "") + 1;
    if (cost > left) break;
    left -= cost;
    first -= 1;
  }
  const newest = units.at(-1);
  const isPart = first === units.length && newest !== undefined && tokens >= MIN_TOKENS;
  const texts = isPart ? [cutToTokens(newest.text, tokens)] : units.slice(first).map((unit) => unit.text);
  const leftOut = units.slice(0, isPart ? -1 : first).filter((unit) => unit.isRound).length;
  return { text: texts.join("\n\n"), leftOut };
}
