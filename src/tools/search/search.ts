import { basename, join } from "node:path";
import { isErrno } from "../../platform/files.ts";
import { openChecked, openFolder } from "../../platform/open-checked.ts";
import { errorResult, type MayShow, type ToolContext, type ToolResult, textResult } from "../../protocol/tool.ts";
import { nothingThere, placeOf } from "../existing-file.ts";
import { absolutePath, realPath, shownPath } from "../workspace-path.ts";
import { namesOfType, TYPE_NAMES } from "./file-types.ts";
import { nameFilter } from "./name-filter.ts";
import { MAX_LINES, type Query, type Scope, type SearchOutcome, type Target } from "./query.ts";
import { findRipgrep } from "./ripgrep.ts";
import { showHits } from "./show-hits.ts";
import { ignoreScope } from "./walk.ts";

export type GrepInput = {
  pattern: string;
  path?: string | undefined;
  glob?: string | undefined;
  type?: string | undefined;
  output?: "lines" | "files" | "count" | undefined;
  ignore_case?: boolean | undefined;
  context?: number | undefined;
  multiline?: boolean | undefined;
  limit?: number | undefined;
};

/** What the model left empty it did not mean. */
type Wanted = { glob: string | undefined; type: string | undefined; path: string };

export async function grep(input: GrepInput, context: ToolContext, mayShow: MayShow | undefined): Promise<ToolResult> {
  const wanted: Wanted = { glob: input.glob || undefined, type: input.type || undefined, path: input.path || "." };
  if (`${input.pattern}${wanted.glob ?? ""}${wanted.path}`.includes("\0"))
    return errorResult("Grep: a NUL can't be searched for, nor be in a path.");
  const names = wanted.type === undefined ? undefined : namesOfType(wanted.type);
  if (wanted.type !== undefined && !names)
    return errorResult(`Grep: there is no type "${wanted.type}". Types: ${TYPE_NAMES.join(", ")}; or give a glob.`);
  const output = input.output ?? "lines";
  const query: Query = {
    pattern: input.pattern,
    ignoreCase: input.ignore_case ?? false,
    multiline: input.multiline ?? false,
    context: input.context ?? 0,
    wantsLines: output === "lines",
  };
  return within(wanted.path, context, async (target, shownIn) => {
    const outcome = await searchTarget(query, { glob: wanted.glob, names }, target, context.signal);
    if (outcome.problem !== undefined) return errorResult(`Grep: ${outcome.problem}`);
    if (outcome.isBinary) return textResult(`${target.file} is a binary file; it is not searched.`);
    const { kept, left } = await allowed(outcome.hits, (one) => one.file, "Grep", target, mayShow);
    kept.sort((a, b) => (a.file < b.file ? -1 : 1));
    const named = kept.map((one) => ({ ...one, file: shownIn(one.file) }));
    return textResult(showHits(named, { output, limit: input.limit ?? MAX_LINES, context: query.context, left, partial: outcome.partial }));
  });
}

/** Opens the place that was judged, and holds it open while something is done with it. */
export async function within(
  path: string,
  context: ToolContext,
  act: (target: Target, shownIn: (file: string) => string) => Promise<ToolResult>,
): Promise<ToolResult> {
  const place = await placeOf(path, context);
  const cwd = await realPath(context.cwd);
  try {
    await using found = await openChecked(place);
    const stats = await found.stat();
    if (stats.isFile()) {
      const isHeld = process.platform === "linux";
      const target = {
        place,
        path: isHeld ? `/proc/${process.pid}/fd/${found.fd}` : place,
        file: basename(place),
        ignores: { isRepository: false, takesParents: false },
      };
      return await act(target, () => shownPath(place, cwd));
    }
    if (!stats.isDirectory()) return errorResult(`${shownPath(place, cwd)} is neither a file nor a folder.`);
    await using folder = await openFolder(place);
    const target = { place, path: folder.path, ignores: await ignoreScope(place) };
    return await act(target, (file) => shownPath(join(place, file), cwd));
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR"))
      return errorResult(
        (await nothingThere(place, shownPath(absolutePath(path, context.cwd), context.cwd))).replace("file", "file or folder"),
      );
    if (isErrno(error, "EACCES", "EPERM")) return errorResult(`${shownPath(place, cwd)} can't be opened.`);
    throw error;
  }
}

async function searchTarget(query: Query, scope: Scope, target: Target, signal: AbortSignal): Promise<SearchOutcome> {
  const ripgrep = await findRipgrep();
  const outcome = ripgrep
    ? await (await import("./by-ripgrep.ts")).searchByRipgrep(ripgrep, query, scope, target, signal)
    : await (await import("./by-walking.ts")).searchByWalking(query, scope, target, signal);
  if (scope.glob === undefined || target.file !== undefined) return outcome;
  const matches = (await nameFilter(scope.glob, true))(outcome.hits.map((one) => one.file));
  if (!matches) return { hits: [], problem: `the glob "${scope.glob}" takes too long to match.` };
  return { ...outcome, hits: outcome.hits.filter((_, index) => matches[index]) };
}

/** Without the files that a search must not show; a file that was itself asked for was judged already. */
export async function allowed<T>(
  found: readonly T[],
  fileOf: (one: T) => string,
  tool: string,
  target: Target,
  mayShow: MayShow | undefined,
): Promise<{ kept: T[]; left: number }> {
  if (!mayShow || target.file !== undefined || found.length === 0) return { kept: [...found], left: 0 };
  const verdicts = await mayShow(
    tool,
    target.place,
    found.map((one) => join(target.place, fileOf(one))),
  );
  const kept = found.filter((_, index) => verdicts[index]);
  return { kept, left: found.length - kept.length };
}
