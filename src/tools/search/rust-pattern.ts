const CLASSES: Record<string, string> = {
  alpha: "a-zA-Z",
  digit: "0-9",
  alnum: "a-zA-Z0-9",
  upper: "A-Z",
  lower: "a-z",
  space: "\\s",
  blank: " \\t",
  punct: "!-\\/:-@\\[-`\\{-~",
  xdigit: "0-9a-fA-F",
  word: "\\w",
};
/** What may stand behind a backslash in an expression of the language's strict kind. */
const KEPT_ESCAPES = /[\^$\\.*+?()[\]{}|/dDsSwWbBpPkuxnrtfv0-9c-]/;

/** A pattern in ripgrep's syntax as one of the language, as far as the two mean the same; a string says why not. */
export function toExpression(query: { pattern: string; ignoreCase: boolean; multiline: boolean }): RegExp | string {
  const flagged = /^\(\?([imsux]+)\)/.exec(query.pattern);
  const flags = flagged?.[1] ?? "";
  if (flags.includes("x")) return "the flag x needs ripgrep, which is not installed.";
  const ignoresCase = query.ignoreCase || flags.includes("i");
  // A line is looked at by itself, so the dot may stand for all that is in it.
  const kind = query.multiline ? "gsm" : "s";
  try {
    return new RegExp(translated(query.pattern.slice(flagged?.[0].length ?? 0)), `${kind}${ignoresCase ? "i" : ""}u`);
  } catch (error) {
    return `the pattern does not parse: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function translated(pattern: string): string {
  let result = "";
  let inClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const rest = pattern.slice(at);
    const character = pattern[at] ?? "";
    const special = inClass ? /^\[:(\w+):\]/.exec(rest) : /^\(\?P</.exec(rest);
    const named = special?.[1] !== undefined && Object.hasOwn(CLASSES, special[1]) ? CLASSES[special[1]] : undefined;
    if (special && (!inClass || named !== undefined)) {
      result += inClass ? named : "(?<";
      at += special[0].length - 1;
    } else if (character === "\\") {
      const { text, length } = translatedEscape(rest, inClass);
      result += text;
      at += length - 1;
    } else {
      if (character === "[" && inClass) result += "\\";
      if (character === "[") inClass = true;
      else if (character === "]") inClass = false;
      // Without a count before it a brace is itself in Rust, and an error here.
      const isLoneBrace =
        !inClass && ((character === "{" && !/^\{\d+(,\d*)?\}/.test(rest)) || (character === "}" && !/\{\d+(,\d*)?$/.test(result)));
      result += isLoneBrace ? `\\${character}` : character;
      if (character === "[" && /^\[\^?\]/.test(rest)) {
        result += rest[1] === "^" ? "^\\]" : "\\]";
        at += rest[1] === "^" ? 2 : 1;
      }
    }
  }
  return result;
}

function translatedEscape(rest: string, inClass: boolean): { text: string; length: number } {
  const hex = /^\\[xu]\{([0-9a-fA-F]+)\}/.exec(rest);
  if (hex) return { text: `\\u{${hex[1]}}`, length: hex[0].length };
  const property = /^\\[pP]\{[^}]*\}/.exec(rest);
  if (property) return { text: property[0], length: property[0].length };
  const next = rest[1] ?? "";
  if (next === "A") return { text: "(?<![\\s\\S])", length: 2 };
  if (next === "z") return { text: "(?![\\s\\S])", length: 2 };
  if (next === "d") return { text: "\\p{Nd}", length: 2 };
  if (next === "w") return { text: inClass ? "\\p{L}\\p{M}\\p{Nd}\\p{Pc}" : "[\\p{L}\\p{M}\\p{Nd}\\p{Pc}]", length: 2 };
  if (next === "-" && !inClass) return { text: "-", length: 2 };
  return { text: KEPT_ESCAPES.test(next) ? `\\${next}` : next, length: next === "" ? 1 : 2 };
}
