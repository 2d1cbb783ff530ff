const MOST_LINES = 12;
const MOST_CHARACTERS = 240;
const MOST_COMPARED = 20_000;
const ENOUGH_ALIKE = 0.5;

/** The place that fits a text best which is not in the file: with its numbers, its blanks visible and the differences named. Shown, never used. */
export function nearestPlace(text: string, wanted: string): string | undefined {
  const lines = text.split("\n");
  const sought = wanted.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
  const start = bestByLines(lines, sought) ?? bestByLikeness(lines, sought);
  if (start === undefined) return undefined;
  const first = Math.max(0, start);
  const place = lines.slice(first, start + sought.length).slice(0, MOST_LINES);
  if (place.length === 0) return undefined;
  const differences = namedDifferences(lines, sought, start);
  const marks = place.some((line) => visible(line) !== withoutReturn(line)) ? " (→ tab, · blank, ⍽ other blank, ¶ line end)" : "";
  const shown = place.map((line, index) => `${first + index + 1}: ${visible(line).slice(0, MOST_CHARACTERS)}`);
  const named = differences.length > 0 ? ` It differs in ${differences.join(", ")}.` : "";
  return `Nearest, line ${first + 1}${marks}:\n${shown.join("\n")}\n${named.trim()}`.trimEnd();
}

/** Each line that is there votes for the place where the whole would stand. */
function bestByLines(lines: readonly string[], sought: readonly string[]): number | undefined {
  const places = new Map<string, number[]>();
  for (const [index, line] of sought.entries()) {
    const plain = plainLine(line);
    if (plain !== "") places.set(plain, [...(places.get(plain) ?? []), index]);
  }
  const votes = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    const plain = plainLine(line);
    for (const offset of places.get(plain) ?? []) {
      // A line of one bracket says little.
      const weight = Math.min(plain.length, 20);
      votes.set(index - offset, (votes.get(index - offset) ?? 0) + weight);
    }
  }
  let best: [number, number] | undefined;
  for (const vote of votes) if (!best || vote[1] > best[1]) best = vote;
  return best?.[0];
}

/** No line is there: the one that is most like the longest of the wanted ones. */
function bestByLikeness(lines: readonly string[], sought: readonly string[]): number | undefined {
  const plain = sought.map(plainLine);
  const longest = plain.reduce((best, line, index) => (line.length > (plain[best]?.length ?? 0) ? index : best), 0);
  const pairs = pairsOf(plain[longest] ?? "");
  if (pairs.size === 0) return undefined;
  let best: { index: number; alike: number } | undefined;
  for (const [index, line] of lines.slice(0, MOST_COMPARED).entries()) {
    const others = pairsOf(plainLine(line.slice(0, 1_000)));
    let shared = 0;
    for (const pair of others) if (pairs.has(pair)) shared++;
    const alike = (2 * shared) / (pairs.size + others.size);
    if (alike > (best?.alike ?? ENOUGH_ALIKE)) best = { index, alike };
  }
  return best && best.index - longest;
}

function pairsOf(line: string): Set<string> {
  const pairs = new Set<string>();
  for (let index = 0; index + 1 < line.length; index++) pairs.add(line.slice(index, index + 2));
  return pairs;
}

function plainLine(line: string): string {
  return straight(line.normalize("NFC"))
    .replaceAll(/[\s\p{Zs}\u200b\ufeff]+/gu, " ")
    .trim();
}

function straight(line: string): string {
  return line
    .replaceAll(/[\u2018\u2019\u201a\u201b\u2032]/g, "'")
    .replaceAll(/[\u201c\u201d\u201e\u201f\u2033«»]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-");
}

function namedDifferences(lines: readonly string[], sought: readonly string[], start: number): string[] {
  const named = new Set<string>();
  for (const [index, want] of sought.entries()) {
    const have = lines[start + index];
    if (have === undefined) named.add("lines that are not there");
    else for (const difference of lineDifferences(withoutReturn(have), want)) named.add(difference);
  }
  return [...named];
}

function lineDifferences(have: string, want: string): string[] {
  if (have === want) return [];
  if (plainLine(have) !== plainLine(want)) return ["other words"];
  const found: string[] = [];
  if (have.includes("\r") !== want.includes("\r")) found.push("carriage returns");
  if (indent(have) !== indent(want)) found.push("tabs and blanks at the start of the line");
  if (/\s*$/.exec(have)?.[0] !== /\s*$/.exec(want)?.[0]) found.push("blanks at the end of the line");
  if (straight(have) !== have || straight(want) !== want) found.push("typographic quotes or dashes");
  if (have.normalize("NFC") !== have || want.normalize("NFC") !== want) found.push("accents as marks of their own (NFD) or joined (NFC)");
  if (/[^\S \t\r\n]|[\u200b\ufeff]/.test(have + want)) found.push("blanks that are no plain space");
  return found.length > 0 ? found : ["blanks within the line"];
}

function indent(line: string): string {
  return /^\s*/.exec(line)?.[0] ?? "";
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** Tabs, blanks at the end and blanks that are no space can be seen. */
function visible(line: string): string {
  const own = withoutReturn(line);
  return own
    .replaceAll(/ +$/g, (blanks) => "·".repeat(blanks.length))
    .replaceAll("\t", "→")
    .replaceAll(/[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff]/g, "⍽")
    .replaceAll("\r", "¶");
}
