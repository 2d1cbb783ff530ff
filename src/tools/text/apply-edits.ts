import { unescapeSystemTags } from "../../protocol/system-tags.ts";
import type { TextForm } from "./form.ts";
import { nearestPlace } from "./nearest.ts";
import { findMatches, lineNumber, type Match, withEndings } from "./splice.ts";

export type Edit = { old_string: string; new_string: string; replace_all?: boolean | undefined };

const MOST_NAMED = 10;

/** The new units, or what kept one of the edits from applying; then none of them counts. */
export function applyEdits(form: TextForm, edits: readonly Edit[], shown: string): string | { problem: string } {
  let units = form.units;
  for (const [index, given] of edits.entries()) {
    const where = edits.length > 1 ? `${shown}, edit ${index + 1}` : shown;
    const result = applyEdit({ ...form, units }, given);
    if (typeof result !== "string") return { problem: `${where}: ${result.problem} Nothing was changed.` };
    units = result;
  }
  return units;
}

function applyEdit(form: TextForm, given: Edit): string | { problem: string } {
  if (given.old_string === "") return { problem: "old_string is empty. Use WriteFile for a whole file." };
  const { old_string, new_string, replace_all } = asInFile(form, given);
  const [wanted, replacement] = [form.encode(old_string), form.encode(new_string)];
  if (wanted === undefined || replacement === undefined) return { problem: notEncodable(form, wanted === undefined) };
  const { units } = form;
  const found = findMatches(units, wanted);
  const matches = found.filter((match) => form.isBoundary(match.start));
  if (found.length > matches.length && (matches.length === 0 || replace_all)) return { problem: insideCharacter(form) };
  if (matches.length === 0) {
    const near = nearestPlace(form.decode(units), old_string);
    return { problem: `old_string is not in the file.${near ? ` ${near}` : ""}` };
  }
  if (matches.length > 1 && !replace_all) {
    const lines = matches.slice(0, MOST_NAMED).map((match) => lineNumber(units, match.start));
    const rest = matches.length > MOST_NAMED ? ", …" : "";
    return {
      problem: `old_string occurs ${matches.length} times (lines ${lines.join(", ")}${rest}). Take in more lines, or set replace_all.`,
    };
  }
  return splice(units, matches, replacement);
}

function splice(units: string, matches: readonly Match[], replacement: string): string {
  const parts: string[] = [];
  let end = 0;
  for (const match of matches) {
    parts.push(units.slice(end, match.start), withEndings(units, match, replacement));
    end = match.end;
  }
  parts.push(units.slice(end));
  return parts.join("");
}

/** ReadFile shows the system's tags escaped. An edit that is copied from there means the file's own, and writes what it means. */
function asInFile(form: TextForm, given: Edit): Edit {
  const old_string = unescapeSystemTags(given.old_string);
  if (old_string === given.old_string) return given;
  const asGiven = form.encode(given.old_string);
  if (asGiven !== undefined && findMatches(form.units, asGiven).length > 0) return given;
  return { ...given, old_string, new_string: unescapeSystemTags(given.new_string) };
}

function notEncodable(form: TextForm, isOld: boolean): string {
  const field = isOld ? "old_string" : "new_string";
  return `The file is in ${form.name}, where ${field} has no certain bytes. Edit in plain ASCII, or convert with Bash: iconv -f <its encoding> -t UTF-8.`;
}

function insideCharacter(form: TextForm): string {
  return `The file is in ${form.name}: old_string may begin with the second half of a two-byte character there. Begin it earlier or later, or convert with Bash: iconv -f <its encoding> -t UTF-8.`;
}
