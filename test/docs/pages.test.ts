import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { exists } from "../../src/platform/files.ts";
import { docPages } from "../support/doc-commands.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname);

/** As GitHub makes it of a heading. */
function anchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

test.each(await docPages())("each link of %s leads to a file, and to a heading of it", async (page) => {
  const text = (await readFile(join(ROOT, page), "utf8")).replaceAll(/```[\s\S]*?```/g, "");
  const dead: string[] = [];
  for (const [, to = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^https?:/.test(to)) continue;
    const [file = "", heading] = to.split("#");
    const path = file === "" ? page : join(dirname(page), file);
    if (!(await exists(join(ROOT, path)))) dead.push(to);
    else if (heading !== undefined) {
      const headings = (await readFile(join(ROOT, path), "utf8")).matchAll(/^#+ (.*)$/gm);
      if (![...headings].some(([, words = ""]) => anchor(words) === heading)) dead.push(to);
    }
  }
  expect(dead).toEqual([]);
});

test("what troubleshooting.md quotes is what the program says", async () => {
  const names = (await readdir(join(ROOT, "src"), { recursive: true })).filter((name) => name.endsWith(".ts"));
  const sources = (await Promise.all(names.map((name) => readFile(join(ROOT, "src", name), "utf8")))).join("\n").replaceAll('\\"', '"');
  const rows = (await readFile(join(ROOT, "docs/troubleshooting.md"), "utf8")).matchAll(/^\| *`([^`]+)`/gm);
  const quoted = [...rows].flatMap(([, words = ""]) => (words.startsWith("roocode") ? [] : [words]));
  expect(quoted.length).toBeGreaterThan(20);
  // What stands for a name, and what is put in from elsewhere, is cut out.
  const pieces = quoted.flatMap((words) => words.split(/…|"|\b[A-Z]{2,}\b|\(/).map((piece) => piece.trim().replace(/[:.)]+$/, "")));
  expect(pieces.filter((piece) => piece.length > 8 && !sources.includes(piece))).toEqual([]);
});
