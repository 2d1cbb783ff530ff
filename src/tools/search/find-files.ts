import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { errorResult, type MayShow, type ToolContext, type ToolResult, textResult } from "../../protocol/tool.ts";
import { nameFilter } from "./name-filter.ts";
import type { Target } from "./query.ts";
import { findRipgrep } from "./ripgrep.ts";
import { allowed, within } from "./search.ts";

export type GlobInput = { pattern: string; path?: string | undefined };

const MAX_FILES = 200;

export async function glob(input: GlobInput, context: ToolContext, mayShow: MayShow | undefined): Promise<ToolResult> {
  const path = input.path || ".";
  if (`${input.pattern}${path}`.includes("\0")) return errorResult("Glob: no file has a NUL in its name or path.");
  return within(path, context, async (target, shownIn) => {
    if (target.file !== undefined) return errorResult(`${shownIn(target.file)} is a file; give a folder to search in.`);
    const matches = await nameFilter(input.pattern, false);
    const { files, partial } = await list(input.pattern, target, context.signal);
    const verdicts = matches(files);
    if (!verdicts) return errorResult(`Glob: the pattern "${input.pattern}" takes too long to match.`);
    const { kept, left } = await allowed(
      files.filter((_, index) => verdicts[index]),
      (file) => file,
      "Glob",
      target,
      mayShow,
    );
    const newest = await newestFirst(kept, target.place);
    const notes = [
      ...(newest.length > MAX_FILES ? [`${newest.length} files in all, the newest ${MAX_FILES} shown; narrow the pattern`] : []),
      ...(left > 0 ? [`${left} files are left out: reading them is denied, or needs a person's word`] : []),
      ...(partial === undefined ? [] : [`not all was searched: ${partial}`]),
    ];
    const text = newest.length === 0 ? "No files match." : newest.slice(0, MAX_FILES).map(shownIn).join("\n");
    return textResult(notes.length > 0 ? `${text}\n[${notes.join("; ")}]` : text);
  });
}

async function list(pattern: string, target: Target, signal: AbortSignal): Promise<{ files: string[]; partial?: string }> {
  const ripgrep = await findRipgrep();
  if (ripgrep) return (await import("./by-ripgrep.ts")).listByRipgrep(ripgrep, { glob: pattern }, target, signal);
  return (await import("./by-walking.ts")).listByWalking({}, target, signal);
}

async function newestFirst(files: readonly string[], folder: string): Promise<string[]> {
  const dated = await Promise.all(
    files.map(async (file) => ({
      file,
      at: await lstat(join(folder, file)).then(
        (found) => found.mtimeMs,
        // Gone since it was found: it stands last.
        () => 0,
      ),
    })),
  );
  return dated.sort((a, b) => b.at - a.at || (a.file < b.file ? -1 : 1)).map(({ file }) => file);
}
