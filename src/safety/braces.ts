const MOST_WORDS = 1_000;

/** `a{b,c}d` becomes `abd acd`, `{1..3}` its numbers: on the source text, before any quote is removed. */
export function expandBraces(source: string): string[] {
  const results: string[] = [];
  const waiting = [source];
  while (waiting.length > 0 && results.length + waiting.length < MOST_WORDS) {
    const text = waiting.shift() ?? "";
    const brace = firstBrace(text);
    if (brace) waiting.unshift(...brace.choices.map((choice) => text.slice(0, brace.start) + choice + text.slice(brace.end)));
    else results.push(text);
  }
  return [...results, ...waiting];
}

function firstBrace(text: string): { start: number; end: number; choices: string[] } | undefined {
  for (let start = 0; start < text.length; start++) {
    const skipped = skipQuoted(text, start);
    if (skipped > start) start = skipped - 1;
    else if (text[start] === "{" && text[start - 1] !== "$") {
      const found = choicesAt(text, start);
      if (found) return { start, ...found };
    }
  }
  return undefined;
}

function choicesAt(text: string, start: number): { end: number; choices: string[] } | undefined {
  const choices: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < text.length; at++) {
    const skipped = skipQuoted(text, at);
    if (skipped > at) at = skipped - 1;
    else if (text[at] === "{") depth++;
    else if (text[at] === "," && depth === 1) {
      choices.push(text.slice(from, at));
      from = at + 1;
    } else if (text[at] === "}" && --depth === 0) {
      const last = text.slice(from, at);
      if (choices.length > 0) return { end: at + 1, choices: [...choices, last] };
      const numbers = range(last);
      return numbers ? { end: at + 1, choices: numbers } : undefined;
    }
  }
  return undefined;
}

/** The end of an escape, a quote or an expansion that starts here; `at` itself when none does. */
function skipQuoted(text: string, at: number): number {
  if (text[at] === "\\") return at + 2;
  if (text[at] === "'" || text[at] === '"' || text[at] === "`") return endOf(text, at, text[at] ?? "");
  if (text.startsWith("${", at)) return endOf(text, at, "}");
  if (text.startsWith("$(", at)) return endOf(text, at, ")");
  return at;
}

function endOf(text: string, at: number, closing: string): number {
  for (let index = at + 1; index < text.length; index++) {
    if (text[index] === "\\" && closing !== "'") index++;
    else if (text[index] === closing) return index + 1;
  }
  return text.length;
}

function range(text: string): string[] | undefined {
  const numbers = /^(-?\d{1,4})\.\.(-?\d{1,4})$/.exec(text);
  const letters = /^([a-zA-Z])\.\.([a-zA-Z])$/.exec(text);
  if (numbers) return sequence(Number(numbers[1]), Number(numbers[2])).map(String);
  if (letters)
    return sequence((letters[1] ?? "a").charCodeAt(0), (letters[2] ?? "a").charCodeAt(0)).map((code) => String.fromCharCode(code));
  return undefined;
}

function sequence(from: number, to: number): number[] {
  const step = from <= to ? 1 : -1;
  return Array.from({ length: Math.min(Math.abs(to - from) + 1, MOST_WORDS) }, (_, index) => from + index * step);
}
