import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { isErrno, readTextOrUndefined, writeAtomic } from "./files.ts";
import { withLock } from "./lock.ts";

/** The file of this machine must not be committed: named in the repository's own exclude file. */
export async function keepOutOfGit(file: string): Promise<void> {
  const folder = dirname(dirname(file));
  const gitFolder = await findGitFolder(folder);
  if (!gitFolder) return;
  const line = `/${relative(gitFolder.top, file).split("\\").join("/")}`;
  const exclude = join(gitFolder.common, "info", "exclude");
  await withLock(exclude, async () => {
    const text = (await readTextOrUndefined(exclude)) ?? "";
    if (text.split(/\r?\n/).includes(line)) return;
    const gap = text === "" || text.endsWith("\n") ? "" : "\n";
    await writeAtomic(exclude, `${text}${gap}${line}\n`, { mode: 0o644 });
  });
}

async function findGitFolder(start: string): Promise<{ top: string; common: string } | undefined> {
  for (let top = start; ; top = dirname(top)) {
    const pointer = join(top, ".git");
    try {
      const own = resolve(top, /^gitdir:\s*(.+?)\s*$/m.exec(await readFile(pointer, "utf8"))?.[1] ?? ".git");
      const common = await readTextOrUndefined(join(own, "commondir"));
      return { top, common: common === undefined ? own : resolve(own, common.trim()) };
    } catch (error) {
      if (isErrno(error, "EISDIR")) return { top, common: pointer };
      if (!isErrno(error, "ENOENT", "ENOTDIR")) throw error;
    }
    if (dirname(top) === top) return undefined;
  }
}
