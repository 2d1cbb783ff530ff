import { type AutocompleteItem, type AutocompleteProvider, type AutocompleteSuggestions, fuzzyFilter } from "@earendil-works/pi-tui";
import type { OpenedSession } from "../../runtime/open-session.ts";
import { slashCompletions } from "../slash/completions.ts";
import { SLASH_COMMANDS } from "../slash/registry.ts";
import { ProjectFiles } from "./project-files.ts";

const MOST = 30;
/** An @ at the start or behind a blank; with a quote, blanks belong to the path. */
const AT = /(?:^|\s)(@"[^"]*|@[^\s"]*)$/;

/** Commands behind a slash at the start, and paths of the project behind an @. */
export class PromptCompletion implements AutocompleteProvider {
  #session: Pick<OpenedSession, "skills" | "mcp"> | undefined;
  #files: ProjectFiles | undefined;

  of(session: Pick<OpenedSession, "skills" | "mcp" | "surroundings">): void {
    this.#session = session;
    this.#files = new ProjectFiles(session.surroundings.cwd);
  }

  async getSuggestions(
    lines: string[],
    line: number,
    column: number,
    options: { signal: AbortSignal; force?: boolean },
  ): Promise<AutocompleteSuggestions | null> {
    const before = (lines[line] ?? "").slice(0, column);
    const at = AT.exec(before)?.[1];
    if (at !== undefined) return suggestions(at, await this.#paths(at.replace(/^@"?/, ""), options.signal));
    if (line === 0 && /^\/\S*$/.test(before)) return suggestions(before, await this.#commands(before.slice(1)));
    return null;
  }

  applyCompletion(lines: string[], line: number, column: number, item: AutocompleteItem, prefix: string) {
    const text = lines[line] ?? "";
    const start = text.slice(0, column - prefix.length);
    const isFolder = item.value.endsWith("/");
    const value = item.value.startsWith("/") || isFolder ? item.value : `${item.value} `;
    const changed = [...lines];
    changed[line] = `${start}${value}${text.slice(column)}`;
    return { lines: changed, cursorLine: line, cursorCol: start.length + value.length };
  }

  shouldTriggerFileCompletion(): boolean {
    return true;
  }

  async #commands(typed: string): Promise<AutocompleteItem[]> {
    if (!this.#session) return [];
    const all = await slashCompletions(SLASH_COMMANDS, this.#session);
    return fuzzyFilter(all, typed, ({ name }) => name).map(({ name, description, argumentHint }) => ({
      value: `/${name}`,
      label: `/${name}${argumentHint ? ` ${argumentHint}` : ""}`,
      description,
    }));
  }

  async #paths(typed: string, signal: AbortSignal): Promise<AutocompleteItem[]> {
    const found = (await this.#files?.matching(typed, MOST, signal)) ?? [];
    return found.map((path) => ({ value: /\s/.test(path) ? `@"${path}"` : `@${path}`, label: path }));
  }
}

function suggestions(prefix: string, items: AutocompleteItem[]): AutocompleteSuggestions | null {
  return items.length === 0 ? null : { items, prefix };
}
