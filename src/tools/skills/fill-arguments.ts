/**
 * A body with what was given in its places, in one pass, so that nothing that was given is filled again or run: `$ARGUMENTS` is all of
 * it, `$1` to `$9` its words (quotes keep some together). A place without a word stays as it is, prices too; `\$1` is plain text.
 * Where a body has no place, what was given stands below it.
 */
export function fillArguments(body: string, given: string): string {
  const words = wordsOf(given);
  let isUsed = false;
  const filled = body.replaceAll(/(\\)?\$(ARGUMENTS\b|[1-9](?!\d))/g, (whole, backslash: string | undefined, place: string) => {
    if (backslash !== undefined) return whole.slice(1);
    const value = place === "ARGUMENTS" ? given : words[Number(place) - 1];
    if (value === undefined) return whole;
    isUsed = true;
    return value;
  });
  return isUsed || given.trim() === "" ? filled : `${filled}\n\nArguments: ${given}`;
}

function wordsOf(given: string): string[] {
  return [...given.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? "");
}
