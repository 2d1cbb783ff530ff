import { realpath } from "node:fs/promises";
import { dirname, relative, sep } from "node:path";
import { escapeSystemTags } from "../protocol/system-tags.ts";
import { type IncludeRules, InstructionReader } from "./instruction-reader.ts";

/** What other people's packages say is not the project's word; the last one has been read with the root's. */
const NOT_OURS = new Set(["node_modules", ".git", ".venv", "site-packages", ".roocode"]);

/** Instruction files in folders below `root`: each applies once a file below it was touched. */
export class NestedInstructions {
  readonly #root: string;
  readonly #rules: IncludeRules;
  readonly #seen: ReadonlySet<string>;
  #reader: InstructionReader | undefined;
  readonly #touched = new Set<string>();
  /** Folders that were touched before: nothing new comes of them. */
  readonly #taken = new Set<string>();
  readonly #looked = new Set<string>();
  readonly #applied: string[] = [];

  /** `seen` are the files that the conversation has begun with. */
  constructor(root: string, rules: IncludeRules, seen: ReadonlySet<string>) {
    this.#root = root;
    this.#rules = rules;
    this.#seen = seen;
  }

  /** `path` is a file, absolute. */
  touch(path: string): void {
    const folder = dirname(path);
    if (!this.#taken.has(folder)) this.#touched.add(folder);
  }

  /** The text of those that apply since the last call, outermost first, as a reminder. */
  async take(): Promise<string | undefined> {
    if (this.#touched.size === 0) return undefined;
    this.#reader ??= new InstructionReader(this.#rules, new Set(this.#seen));
    const parts: string[] = [];
    for (const folder of await this.#newFolders()) {
      const found = await this.#reader.folder(folder, [this.#root]);
      if (found.length > 0) this.#applied.push(folder);
      parts.push(...found);
    }
    return reminder(parts, this.#reader.notes.splice(0));
  }

  /** The conversation went back, perhaps to before they came: each applies anew with the next touch. */
  reset(): void {
    this.#reader = undefined;
    this.#touched.clear();
    this.#taken.clear();
    this.#looked.clear();
    this.#applied.length = 0;
  }

  /** All that apply so far, as they are now. */
  async current(): Promise<string | undefined> {
    const reader = new InstructionReader(this.#rules);
    const parts: string[] = [];
    for (const folder of this.#applied) parts.push(...(await reader.folder(folder, [this.#root])));
    return reminder(parts, reader.notes);
  }

  async #newFolders(): Promise<string[]> {
    const root = await realpath(this.#root);
    const found = new Set<string>();
    for (const folder of this.#touched) {
      const names = relative(root, await realpath(folder).catch(() => root)).split(sep);
      if (names[0] === "" || names[0] === ".." || names.some((name) => NOT_OURS.has(name))) continue;
      for (let depth = 1; depth <= names.length; depth++) found.add([root, ...names.slice(0, depth)].join(sep));
    }
    for (const folder of this.#touched) this.#taken.add(folder);
    this.#touched.clear();
    const folders = [...found].filter((folder) => !this.#looked.has(folder)).sort((a, b) => a.length - b.length);
    for (const folder of folders) this.#looked.add(folder);
    return folders;
  }
}

function reminder(parts: readonly string[], notes: readonly string[]): string | undefined {
  if (parts.length === 0 && notes.length === 0) return undefined;
  const text = [...parts, ...notes].join("\n\n---\n\n");
  return `<system-reminder>\nInstructions for files below the folders that these stand in.\n\n${escapeSystemTags(text)}\n</system-reminder>`;
}
