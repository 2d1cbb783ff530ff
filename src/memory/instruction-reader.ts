import { open, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { isErrno } from "../platform/files.ts";
import { headOf } from "./cut.ts";

const NAME = "ROOCODE.md";
const OTHER_NAMES = ["AGENTS.md", "CLAUDE.md"];
const MAX_CHARACTERS = 40_000;
/** Of all that one reader takes in. */
const MAX_TOTAL = 100_000;
const MAX_DEPTH = 5;

export type IncludeRules = {
  /** What a leading `~/` means. */
  home: string;
  /** False for secrets and protected files. */
  mayInclude: (path: string) => boolean;
};
/** `within`: the files that include this one, and itself. */
type Place = { path: string; roots: readonly string[]; within: readonly string[] };

/** Reads instruction files with what they include. Each file counts once for as long as the reader lives, by whatever name. */
export class InstructionReader {
  readonly notes: string[] = [];
  readonly #rules: IncludeRules;
  readonly #seen: Set<string>;
  #total = 0;

  constructor(rules: IncludeRules, seen = new Set<string>()) {
    this.#rules = rules;
    this.#seen = seen;
  }

  /** The folder's ROOCODE.md, or its AGENTS.md and CLAUDE.md where there is none; nothing that leads out of `roots`. */
  async folder(folder: string, roots: readonly string[]): Promise<string[]> {
    const own = await this.#part(join(folder, NAME), roots);
    if (own !== undefined) return [own];
    const others: string[] = [];
    for (const name of OTHER_NAMES) {
      const part = await this.#part(join(folder, name), roots);
      if (part !== undefined) others.push(part);
    }
    return others;
  }

  /** A link to a file that was read already (AGENTS.md -> CLAUDE.md) counts once. */
  async #part(path: string, roots: readonly string[]): Promise<string | undefined> {
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile() || this.#seen.has(identity(found))) return undefined;
    const real = await realpath(path);
    const isLink = real !== join(await realpath(dirname(path)), basename(path));
    if (!(await isBelow(real, roots)) || (isLink && !this.#rules.mayInclude(path))) {
      this.notes.push(`${path} leads to ${real}, which is not read for a file of this place.`);
      return undefined;
    }
    this.#seen.add(identity(found));
    const text = await this.#text({ path, roots, within: [identity(found)] });
    return text ? `# ${path}\n\n${text}` : undefined;
  }

  async #text(place: Place): Promise<string> {
    const { path } = place;
    const { text, isWhole } = await readStart(path);
    if (text.length > MAX_CHARACTERS || !isWhole)
      this.notes.push(`${path} has ${isWhole ? "" : "more than "}${text.length} characters; only the first ${MAX_CHARACTERS} are used.`);
    const kept = headOf(text, Math.min(MAX_CHARACTERS, MAX_TOTAL - this.#total));
    if (kept.length < Math.min(text.length, MAX_CHARACTERS))
      this.notes.push(`${path} is cut: instruction files have room for ${MAX_TOTAL} characters in all.`);
    this.#total += kept.length;
    if (!kept.includes("@include")) return kept.trim();
    // Most instruction files include nothing.
    const { replaceIncludes } = await import("./include.ts");
    return (await replaceIncludes(kept, (target, line) => this.#include(target, line, place))).trim();
  }

  async #include(target: string, line: number, { path: from, roots, within }: Place): Promise<string> {
    const leaveOut = (reason: string) => {
      this.notes.push(`${from}:${line}: "@include ${target}" is left out: ${reason}.`);
      return "";
    };
    const path = target.startsWith("~/") ? join(this.#rules.home, target.slice(2)) : resolve(dirname(from), target);
    const found = await stat(path).catch(() => undefined);
    if (!found) return leaveOut(`there is no file ${path}`);
    if (!found.isFile()) return leaveOut(`${path} is not a regular file`);
    if (!(await isBelow(await realpath(path), roots))) return leaveOut(`${path} is outside of ${roots.join(", ")}`);
    if (!this.#rules.mayInclude(path)) return leaveOut("secrets and protected files are never included");
    if (within.includes(identity(found))) return leaveOut("it includes itself, by this or by way of others");
    // What stands there already need not come twice.
    if (this.#seen.has(identity(found))) return "";
    if (within.length > MAX_DEPTH) return leaveOut(`files include each other at most ${MAX_DEPTH} deep`);
    if (this.#total >= MAX_TOTAL) return leaveOut(`instruction files have room for ${MAX_TOTAL} characters in all`);
    this.#seen.add(identity(found));
    return this.#text({ path, roots, within: [...within, identity(found)] });
  }
}

function identity({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`;
}

async function isBelow(real: string, roots: readonly string[]): Promise<boolean> {
  for (const root of roots) {
    const way = relative(await realpath(root).catch(() => root), real);
    if (way !== ".." && !way.startsWith("../") && !isAbsolute(way)) return true;
  }
  return false;
}

/** No more of a file than can count; the rest may be of any size. */
async function readStart(path: string): Promise<{ text: string; isWhole: boolean }> {
  try {
    const handle = await open(path, "r");
    try {
      const bytes = Buffer.alloc(MAX_CHARACTERS * 4);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      const text = new TextDecoder().decode(bytes.subarray(0, bytesRead));
      return { text: text.includes("\0") ? "" : text, isWhole: bytesRead < bytes.length };
    } finally {
      await handle.close();
    }
  } catch (error) {
    // Gone since it was looked at, or closed to this person: the others still count.
    if (isErrno(error, "ENOENT", "EACCES", "EPERM")) return { text: "", isWhole: true };
    throw error;
  }
}
