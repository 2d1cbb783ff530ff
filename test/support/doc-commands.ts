import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname);
const SHELL = /^(?:sh|bash|console|shell)$/;

/** `isCode`: a line of a code block, meant to be pasted; else words in the text or a table. */
export type DocCommand = { page: string; line: number; text: string; isCode: boolean };

/** Pages that a user reads, from the root. */
export async function docPages(): Promise<string[]> {
  const docs = (await readdir(join(ROOT, "docs"))).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`);
  return [...(await readdir(ROOT)).filter((name) => /^README.*\.md$/.test(name)), ...docs].sort();
}

/** Lines of shell blocks, lines of other blocks that begin with `roocode`, and each `roocode …` in the text. */
export async function docCommands(page: string): Promise<DocCommand[]> {
  const found: DocCommand[] = [];
  const lines = (await readFile(join(ROOT, page), "utf8")).split("\n");
  let language: string | undefined;
  for (let at = 0; at < lines.length; at += 1) {
    const line = at + 1;
    let text = lines[at] ?? "";
    const fence = /^\s*```(\w*)/.exec(text);
    if (fence) language = language === undefined ? (fence[1] ?? "") : undefined;
    else if (language === undefined)
      for (const [, words = ""] of text.matchAll(/`(roocode [^`]*)`/g)) found.push({ page, line, text: words, isCode: false });
    else if (SHELL.test(language) || /^\s*roocode\s+[^=\s]/.test(text)) {
      while (text.endsWith("\\")) text = `${text.slice(0, -1)}${lines[++at] ?? ""}`;
      text = text.trim();
      if (text !== "" && !text.startsWith("#")) found.push({ page, line, text, isCode: true });
    }
  }
  return found;
}

/** What is meant by `status|log [--json]`: each of the alternatives, with all that may be left out. */
export function spelledOut(mention: string): string[] {
  const words =
    mention
      .replaceAll("\\|", "|")
      .replaceAll(/[[\]]/g, "")
      .match(/"[^"]*"|\S+/g) ?? [];
  return words.reduce<string[]>(
    (begun, word) => begun.flatMap((before) => (word.startsWith('"') ? [word] : word.split("|")).map((one) => `${before} ${one}`.trim())),
    [""],
  );
}

/** The arguments that bash hands to roocode; undefined where the line does not call it. No other program is run, no file written. */
export async function argumentsOf(line: string): Promise<string[] | undefined> {
  const shims = `roocode() { printf '%s\\0' begin "$@" >&3; exit; }; cd() { :; }; command_not_found_handle() { :; }; PATH=/nonexistent`;
  const script = `exec 3>&1 >/dev/null 2>&1 </dev/null; ${shims}\n${line.replaceAll(/ [<>] \S+/g, "")}\nexit 0`;
  const env = { PATH: process.env.PATH, GOAL: "refactor auth module" };
  const { stdout } = await promisify(execFile)("bash", ["--noprofile", "--norc", "-c", script], { cwd: "/", env });
  return stdout === "" ? undefined : stdout.split("\0").slice(1, -1);
}
