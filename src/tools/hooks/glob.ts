/**
 * Whether a name or path is meant by a glob: `*` and `?` within a part, `**` for any number of parts, `{a,b}`. A pattern without a slash
 * means the last part, as in .gitignore. Needs time in proportion to pattern times path, whatever they are.
 */
export function matchesGlob(path: string, pattern: string): boolean {
  const alternatives = braces(pattern);
  const parts = path.split("/").filter((part) => part !== "");
  return alternatives.some((one) => {
    const isAnchored = one.includes("/");
    if (!isAnchored) return wildcard(parts.at(-1) ?? "", one);
    if (one.startsWith("/") && !path.startsWith("/")) return false;
    const wanted = one.split("/").filter((part) => part !== "" && part !== ".");
    return sequence(parts, wanted, "**", wildcard);
  });
}

const MAX_ALTERNATIVES = 64;

/** Only one level of braces is opened; what is more stands for itself. */
function braces(pattern: string): string[] {
  let open = [pattern];
  for (;;) {
    const next = open.flatMap((one) => {
      const found = /\{([^{}]*,[^{}]*)\}/.exec(one);
      if (!found) return [one];
      const [whole, inner = ""] = found;
      return inner.split(",").map((word) => one.slice(0, found.index) + word + one.slice(found.index + whole.length));
    });
    if (next.length === open.length || next.length > MAX_ALTERNATIVES) return open;
    open = next;
  }
}

function wildcard(text: string, pattern: string): boolean {
  return sequence([...text], [...pattern], "*", (one, wanted) => wanted === "?" || one === wanted);
}

/** Goes back to the last `many` only, so nothing is tried twice. */
function sequence<Item>(
  items: readonly Item[],
  pattern: readonly Item[],
  many: Item,
  isSame: (item: Item, wanted: Item) => boolean,
): boolean {
  let at = 0;
  let wanted = 0;
  let lastMany = -1;
  let resumeAt = 0;
  while (at < items.length) {
    const item = items[at];
    const next = pattern[wanted];
    if (next !== undefined && next === many) {
      lastMany = wanted;
      resumeAt = at;
      wanted += 1;
    } else if (item !== undefined && next !== undefined && isSame(item, next)) {
      at += 1;
      wanted += 1;
    } else if (lastMany >= 0) {
      resumeAt += 1;
      at = resumeAt;
      wanted = lastMany + 1;
    } else return false;
  }
  while (pattern[wanted] === many) wanted += 1;
  return wanted === pattern.length;
}
