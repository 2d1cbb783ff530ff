import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isErrno, readTextOrUndefined, writeAtomic } from "../../platform/files.ts";
import { withLock } from "../../platform/lock.ts";
import { UserError } from "../../protocol/errors.ts";
import { escapeSystemTags } from "../../protocol/system-tags.ts";
import {
  fileName,
  MAX_BODY,
  MAX_DESCRIPTION,
  MAX_NAME,
  MEMORY_TYPES,
  type Memory,
  type MemoryType,
  memoryText,
  type NewMemory,
  readMemory,
  slug,
} from "./memory-file.ts";
import { INDEX, type MemoryFolder, staysBelow } from "./memory-index.ts";
import { isAlike } from "./similar.ts";

const MAX_FILE_BYTES = 64_000;

export type MemoryPlaces = { user: MemoryFolder; project: MemoryFolder };
type Shelf = MemoryFolder & { types: readonly MemoryType[] };
export type Listed = { memories: Memory[]; notes: string[] };
export type MemoryStore = {
  /** Newest first. `notes` name files that are no memories. */
  list(): Promise<Listed>;
  /** Takes the place of one with the same name or nearly the same description. Throws UserError for what is not to be stored. */
  remember(memory: NewMemory): Promise<{ memory: Memory; isUpdate: boolean }>;
  /** By name or file name. Undefined when there is none; throws UserError when several have the name. */
  forget(name: string): Promise<Memory | undefined>;
};

/** Memories as files in two folders, each with an index that is made anew from the files at every change. */
export function memoryStore(places: MemoryPlaces, hasSecret: (text: string) => boolean, now = () => new Date()): MemoryStore {
  const shelves = shelvesOf(places);

  return {
    async list() {
      const all = await Promise.all(shelves.map(readFolder));
      return { memories: newestFirst(all.flatMap(({ memories }) => memories)), notes: all.flatMap(({ notes }) => notes) };
    },

    async remember(given) {
      const wanted = plain(given);
      refuseUnfit(wanted, hasSecret);
      const folder = shelfOf(shelves, ({ types }) => types.includes(wanted.type));
      await mkdir(folder.path, { recursive: true, mode: 0o700 });
      await refuseLink(folder);
      return withLock(join(folder.path, INDEX), async () => {
        const { memories } = await readFolder(folder);
        const old =
          memories.find(({ name }) => slug(name) === slug(wanted.name)) ??
          memories.find(({ type, description }) => type === wanted.type && isAlike(description, wanted.description));
        const name = old?.name ?? wanted.name;
        const memory = { ...wanted, name, created: old?.created ?? now().toISOString() };
        const path = join(folder.path, old?.type === wanted.type ? fileOf(old) : fileName({ ...wanted, name }));
        await refuseForeign(path, memories);
        await writeAtomic(path, memoryText(memory));
        if (old && old.path !== path) await rm(old.path, { force: true });
        await writeIndex(folder);
        return { memory: { ...memory, path }, isUpdate: old !== undefined };
      });
    },

    async forget(name) {
      const found = (await this.list()).memories.filter((memory) => isNamed(memory, name));
      if (found.length > 1) throw new UserError(`Several memories are called "${name}": ${found.map(fileOf).join(", ")}. Name the file.`);
      const [memory] = found;
      if (!memory) return undefined;
      const folder = shelfOf(shelves, ({ path }) => path === dirname(memory.path));
      await refuseLink(folder);
      await withLock(join(folder.path, INDEX), async () => {
        await rm(memory.path, { force: true });
        await writeIndex(folder);
      });
      return memory;
    },
  };
}

/** In a project that is the home itself both folders are one. */
function shelvesOf({ user, project }: MemoryPlaces): Shelf[] {
  if (user.path === project.path) return [{ ...user, types: MEMORY_TYPES }];
  return [
    { ...user, types: ["user", "feedback"] },
    { ...project, types: ["project", "reference"] },
  ];
}

function shelfOf(shelves: readonly Shelf[], fits: (shelf: Shelf) => boolean): Shelf {
  const found = shelves.find(fits);
  if (!found) throw new Error("Every memory has a folder.");
  return found;
}

export function fileOf({ path }: Pick<Memory, "path">): string {
  return path.slice(dirname(path).length + 1);
}

function plain({ type, name, description, body }: NewMemory): NewMemory {
  const oneLine = (text: string) => escapeSystemTags(text.replace(/[\p{Cc}\s]+/gu, " ").trim());
  return {
    type,
    name: oneLine(name).replaceAll("[", "(").replaceAll("]", ")"),
    description: oneLine(description),
    body: escapeSystemTags(
      body
        .replace(/\r\n?/g, "\n")
        .replace(/[^\P{Cc}\n\t]/gu, "")
        .trim(),
    ),
  };
}

function refuseUnfit({ name, description, body }: NewMemory, hasSecret: (text: string) => boolean): void {
  const bounds = [
    ["name", name, MAX_NAME],
    ["description", description, MAX_DESCRIPTION],
    ["text", body, MAX_BODY],
  ] as const;
  for (const [what, text, most] of bounds) {
    if (text === "") throw new UserError(`A memory needs a ${what}.`);
    if (text.length > most) throw new UserError(`The ${what} of a memory has at most ${most} characters; this one has ${text.length}.`);
  }
  if (hasSecret([name, description, body].join("\n")))
    throw new UserError("This looks like it holds a key or password. Secrets are never remembered; leave it out.");
}

function isNamed(memory: Memory, name: string): boolean {
  const wanted = name.trim().toLowerCase();
  return memory.name.toLowerCase() === wanted || fileOf(memory).toLowerCase().replace(/\.md$/, "") === wanted.replace(/\.md$/, "");
}

/** A repository could bring its folder as a link to anywhere. */
async function refuseLink({ path, below }: MemoryFolder): Promise<void> {
  if (!(await staysBelow(path, below))) throw new UserError(`${path} leads out of ${below}: nothing is written there. Remove the link.`);
}

/** What stands there and is no memory may be somebody's work. */
async function refuseForeign(path: string, memories: readonly Memory[]): Promise<void> {
  if (memories.some((memory) => memory.path === path)) return;
  if (await lstat(path).catch(() => undefined))
    throw new UserError(`${path} is there and is no memory that can be read. Mend or move it, or use another name.`);
}

async function readFolder({ path: folder, below, types }: Shelf): Promise<Listed> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  });
  if (names.length === 0) return { memories: [], notes: [] };
  if (!(await staysBelow(folder, below))) return { memories: [], notes: [`${folder} leads out of ${below}; it is not read.`] };
  const memories: Memory[] = [];
  const notes: string[] = [];
  for (const name of names.sort()) {
    if (name.startsWith(".") || name === INDEX || name === `${INDEX}.lock`) continue;
    const path = join(folder, name);
    const memory = await readFileAt(path);
    if (memory && types.includes(memory.type) && name.startsWith(`${memory.type}-`)) memories.push(memory);
    else notes.push(`${path} is no memory of this folder; it is left alone.`);
  }
  return { memories, notes };
}

async function readFileAt(path: string): Promise<Memory | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isFile() || found.size > MAX_FILE_BYTES || !path.endsWith(".md")) return undefined;
  const text = await readTextOrUndefined(path);
  return text === undefined ? undefined : readMemory(text, path);
}

async function writeIndex(folder: Shelf): Promise<void> {
  const { memories } = await readFolder(folder);
  const lines = newestFirst(memories).map((memory) => `- [${memory.name}](${fileOf(memory)}): ${memory.description}`);
  await writeAtomic(join(folder.path, INDEX), `# Memories\n\n${lines.join("\n")}\n`);
}

function newestFirst(memories: readonly Memory[]): Memory[] {
  return [...memories].sort((a, b) => b.created.localeCompare(a.created) || a.name.localeCompare(b.name));
}
