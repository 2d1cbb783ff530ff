import { stat } from "node:fs/promises";
import { join, relative } from "node:path";
import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";
import { findRipgrep, runRipgrep } from "../ripgrep.ts";
import { walkFiles } from "../walk.ts";
import { absolutePath, shownPath } from "../workspace-path.ts";

const MAX_FILES = 200;

const schema = z.object({
  pattern: z.string().min(1).max(500).describe('Glob such as "**/*.ts" or "src/*.{js,ts}".'),
  path: z.string().optional().describe("Folder to search in; the working folder unless given."),
});

export function globTool(): Tool {
  return defineTool({
    name: "Glob",
    description: `Finds files by a glob pattern, newest first, at most ${MAX_FILES}. Files that .gitignore names are left out; hidden ones are found. Use it to find files by name, and Grep to find them by content.`,
    schema,
    access: ({ pattern, path }) => ({ kind: "read", subject: pattern, paths: [path ?? "."] }),
    isConcurrencySafe: () => true,
    async run({ pattern, path }, { cwd, signal }) {
      const folder = absolutePath(path ?? ".", cwd);
      const isFolder = await stat(folder).then(
        (found) => found.isDirectory(),
        () => false,
      );
      if (!isFolder) return errorResult(`There is no folder ${shownPath(folder, cwd)}.`);
      const found = await findFiles(folder, pattern, signal);
      const dated = await Promise.all(
        found.map(async (file) => ({
          file,
          at: await stat(file).then(
            (one) => one.mtimeMs,
            () => 0,
          ),
        })),
      );
      dated.sort((a, b) => b.at - a.at || (a.file < b.file ? -1 : 1));
      if (dated.length === 0) return textResult("No files match.");
      const shown = dated.slice(0, MAX_FILES).map(({ file }) => shownPath(file, cwd));
      const rest = dated.length > MAX_FILES ? `\n[${dated.length - MAX_FILES} more files; narrow the pattern]` : "";
      return textResult(`${shown.join("\n")}${rest}`);
    },
  });
}

async function findFiles(folder: string, pattern: string, signal: AbortSignal): Promise<string[]> {
  const ripgrep = await findRipgrep();
  // A leading slash anchors, so that "*.ts" means this folder alone, as people read it.
  const anchored = pattern.startsWith("**") ? pattern : `/${pattern.replace(/^\.?\//, "")}`;
  if (ripgrep) {
    const args = ["--files", "--hidden", "--no-require-git", "--no-messages", "--null", "--glob", "!.git", "--glob", anchored];
    const { stdout } = await runRipgrep(ripgrep, args, folder, 20_000_000, signal);
    return stdout
      .split("\0")
      .filter((name) => name !== "")
      .map((name) => join(folder, name));
  }
  const { default: picomatch } = await import("picomatch");
  const matches = picomatch(pattern.replace(/^\.?\//, ""), { dot: true });
  const files: string[] = [];
  for await (const file of walkFiles(folder, signal)) if (matches(relative(folder, file))) files.push(file);
  return files;
}
