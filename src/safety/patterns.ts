/**
 * `*` is any text, `\*` a star, every other character itself. Linear in practice: it never goes back further than the last star,
 * so no rule of a project can hang the agent.
 */
export function matchesStar(pattern: string, text: string): boolean {
  return starMatcher(pattern)(text);
}

/** The same for a pattern that is compared often. */
export function starMatcher(pattern: string): (text: string) => boolean {
  const tokens = tokenize(pattern);
  const star = tokens.indexOf("star");
  const start = (star < 0 ? tokens : tokens.slice(0, star)).map((token) => (token === "star" ? "" : token.character)).join("");
  // Most texts differ at their beginning already.
  if (star < 0) return (text) => text === start;
  return (text) => text.startsWith(start) && matchesTokens(tokens, text);
}

function matchesTokens(tokens: readonly Token[], text: string): boolean {
  let token = 0;
  let at = 0;
  let starToken = -1;
  let starAt = 0;
  while (at < text.length) {
    const current = tokens[token];
    if (current === "star") {
      starToken = token++;
      starAt = at;
    } else if (current !== undefined && current.character === text[at]) {
      token++;
      at++;
    } else if (starToken >= 0) {
      token = starToken + 1;
      at = ++starAt;
    } else return false;
  }
  while (tokens[token] === "star") token++;
  return token === tokens.length;
}

export function hasStar(pattern: string): boolean {
  return tokenize(pattern).includes("star");
}

/** A text with each star made literal: the pattern that matches this text alone. */
export function escapeStars(text: string): string {
  return text.replaceAll("*", "\\*");
}

export function unescapeStars(pattern: string): string {
  return pattern.replaceAll("\\*", "*");
}

type Token = "star" | { character: string };

function tokenize(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern.charAt(index);
    if (character === "\\" && pattern[index + 1] === "*") {
      tokens.push({ character: "*" });
      index++;
    } else if (character !== "*") tokens.push({ character });
    else if (tokens.at(-1) !== "star") tokens.push("star");
  }
  return tokens;
}

/** `*` within one component, `?` one character, `**` any number of components. */
export function matchesComponents(pattern: readonly string[], path: readonly string[]): boolean {
  let reachable = new Set([0]);
  for (const part of pattern) {
    const next = new Set<number>();
    for (const at of reachable) {
      if (part === "**") for (let end = at; end <= path.length; end++) next.add(end);
      else if (at < path.length && matchesName(part, path[at] ?? "")) next.add(at + 1);
    }
    reachable = next;
  }
  return reachable.has(path.length);
}

/** One component; `?` and `[…]` stand for one character. */
export function matchesName(pattern: string, name: string): boolean {
  if (!/[?[]/.test(pattern)) return matchesStar(pattern, name);
  const loose = pattern.replace(/\[[^\]]*\]/g, "?");
  let reachable = new Set([0]);
  for (const character of loose) {
    const next = new Set<number>();
    for (const at of reachable) {
      if (character === "*") for (let end = at; end <= name.length; end++) next.add(end);
      else if (at < name.length && (character === "?" || character === name[at])) next.add(at + 1);
    }
    reachable = next;
  }
  return reachable.has(name.length);
}
