import { stat } from "node:fs/promises";
import { dirname, relative } from "node:path";
import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import { errorResult, type Tool, type ToolResult, textResult } from "../../protocol/tool.ts";
import { findRipgrep, runRipgrep } from "../ripgrep.ts";
import { readTextFile, walkFiles } from "../walk.ts";
import { absolutePath, shownPath } from "../workspace-path.ts";

const MAX_LINES = 250;
const MAX_COLUMNS = 500;
const MAX_CHARACTERS = 25_000;

const schema = z.object({
  pattern: z.string().min(1).describe("Regular expression in ripgrep's syntax."),
  path: z.string().optional().describe("File or folder to search; the working folder unless given."),
  glob: z.string().optional().describe('Only files that match, for example "*.ts".'),
  output: z
    .enum(["lines", "files", "count"])
    .optional()
    .describe("Matching lines with file and number (default), only file names, or counts by file."),
  ignore_case: z.boolean().optional(),
  context: z.int().min(0).max(20).optional().describe("Lines shown before and after each match."),
  multiline: z.boolean().optional().describe("Let the pattern span lines."),
  limit: z.int().min(1).optional().describe(`Most lines to return; ${MAX_LINES} unless given.`),
});
type Input = z.output<typeof schema>;

export function grepTool(): Tool {
  return defineTool({
    name: "Grep",
    description: `Searches file contents with a regular expression (ripgrep). Files that .gitignore names, binary files and .git are left out. Returns path:line:text, at most ${MAX_LINES} lines. Use it instead of grep in Bash.`,
    schema,
    access: ({ pattern, path }) => ({ kind: "read", subject: pattern, paths: [path ?? "."] }),
    isConcurrencySafe: () => true,
    async run(input, { cwd, signal }) {
      const target = absolutePath(input.path ?? ".", cwd);
      const found = await stat(target).catch(() => undefined);
      if (!found) return errorResult(`There is no file or folder ${shownPath(target, cwd)}.`);
      const ripgrep = await findRipgrep();
      const folder = found.isDirectory() ? target : dirname(target);
      return ripgrep ? searchByRipgrep(ripgrep, input, target, folder, cwd, signal) : searchByWalking(input, target, folder, cwd, signal);
    },
  });
}

async function searchByRipgrep(
  ripgrep: string,
  input: Input,
  target: string,
  folder: string,
  cwd: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  const args = [
    "--hidden",
    "--no-require-git",
    "--no-messages",
    "--color=never",
    "--no-heading",
    "--with-filename",
    "--sort=path",
    `--max-columns=${MAX_COLUMNS}`,
    "--max-columns-preview",
    "--glob",
    "!.git",
  ];
  if (input.output === "files") args.push("--files-with-matches");
  else if (input.output === "count") args.push("--count");
  else args.push("--line-number");
  if (input.ignore_case) args.push("--ignore-case");
  if (input.multiline) args.push("--multiline", "--multiline-dotall");
  if (input.context) args.push(`--context=${input.context}`);
  if (input.glob) args.push("--glob", input.glob);
  args.push("--regexp", input.pattern, "--", relative(folder, target) || ".");
  const { exitCode, stdout, stderr, truncated } = await runRipgrep(ripgrep, args, folder, 2_000_000, signal);
  if (exitCode === 2 && stdout === "") return errorResult(`Grep: ${stderr.trim().slice(0, 1_000)}`);
  const prefix = shownPath(folder, cwd);
  const lines = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => inFolder(prefix, folder === cwd, line.replace(/^\.\//, "")));
  return page(lines, input.limit ?? MAX_LINES, truncated);
}

function inFolder(prefix: string, isCwd: boolean, line: string): string {
  return isCwd || line === "--" ? line : `${prefix}/${line}`;
}

async function searchByWalking(input: Input, target: string, folder: string, cwd: string, signal: AbortSignal): Promise<ToolResult> {
  let expression: RegExp;
  try {
    expression = new RegExp(input.pattern, `${input.ignore_case ? "i" : ""}${input.multiline ? "gsm" : ""}u`);
  } catch (error) {
    return errorResult(`Grep: ${error instanceof Error ? error.message : "the pattern does not parse"}`);
  }
  const { default: picomatch } = await import("picomatch");
  const matchesGlob = input.glob ? picomatch(input.glob, { dot: true, matchBase: !input.glob.includes("/") }) : () => true;
  const files: string[] = [];
  if (folder === target) for await (const file of walkFiles(folder, signal)) files.push(file);
  else files.push(target);
  const lines: string[] = [];
  for (const file of files.filter((one) => matchesGlob(relative(folder, one))).sort()) {
    if (signal.aborted || lines.length > (input.limit ?? MAX_LINES)) break;
    const text = await readTextFile(file);
    if (text !== undefined) lines.push(...matchesIn(text, expression, input, shownPath(file, cwd)));
  }
  return page(lines, input.limit ?? MAX_LINES, false);
}

function matchesIn(text: string, expression: RegExp, input: Input, file: string): string[] {
  const lines = text.replace(/\n$/, "").split("\n");
  const hits = input.multiline ? multilineHits(text, expression) : lines.flatMap((line, index) => (expression.test(line) ? [index] : []));
  if (hits.length === 0) return [];
  if (input.output === "files") return [file];
  if (input.output === "count") return [`${file}:${hits.length}`];
  const isHit = new Set(hits);
  const around = input.context ?? 0;
  const shown = [...new Set(hits.flatMap((hit) => Array.from({ length: around * 2 + 1 }, (_, index) => hit - around + index)))];
  return shown
    .filter((index) => index >= 0 && index < lines.length)
    .sort((a, b) => a - b)
    .map(
      (index) =>
        `${file}${isHit.has(index) ? ":" : "-"}${index + 1}${isHit.has(index) ? ":" : "-"}${(lines[index] ?? "").slice(0, MAX_COLUMNS)}`,
    );
}

function multilineHits(text: string, expression: RegExp): number[] {
  const hits = new Set<number>();
  for (const match of text.matchAll(expression)) {
    const first = text.slice(0, match.index).split("\n").length - 1;
    for (let line = 0; line < match[0].split("\n").length; line += 1) hits.add(first + line);
  }
  return [...hits];
}

function page(lines: readonly string[], limit: number, truncated: boolean): ToolResult {
  if (lines.length === 0) return textResult("No matches.");
  const shown: string[] = [];
  let characters = 0;
  for (const line of lines.slice(0, limit)) {
    characters += line.length + 1;
    if (characters > MAX_CHARACTERS) break;
    shown.push(line);
  }
  const rest = shown.length < lines.length || truncated ? "\n[more matches; narrow the pattern, the path or the glob]" : "";
  return textResult(`${shown.join("\n")}${rest}`);
}
