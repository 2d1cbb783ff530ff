import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { resultText } from "../../src/protocol/tool.ts";
import { globTool } from "../../src/tools/builtin/glob.ts";
import { grepTool } from "../../src/tools/builtin/grep.ts";
import { tempFolder } from "../support/temp.ts";

const run = promisify(execFile);

const TREE: Record<string, string | Buffer> = {
  ".gitignore": "*.log\n!keep.log\nsecret/\n/only-top.txt\nbuild/*\n!build/kept.txt\n",
  "a.ts": "foo one\nbar\nfoo two\n",
  "B.ts": "FOO big\n",
  "deep/.gitignore": "!back.log\n*.tmp\n",
  "deep/back.log": "foo back\n",
  "deep/x.tmp": "foo tmp\n",
  "deep/er/y.tmp": "foo tmp\n",
  "deep/er/z.py": "def foo():\n    return 1\n",
  "deep/only-top.txt": "foo deep top\n",
  "only-top.txt": "foo top\n",
  "note.log": "foo log\n",
  "keep.log": "foo keep\n",
  "secret/s.txt": "foo secret\n",
  "build/out.txt": "foo out\n",
  "build/kept.txt": "foo kept\n",
  ".hidden/h.txt": "foo hidden\n",
  "excluded.txt": "foo excluded\n",
  "crlf.txt": "foo end\r\nmid foo\r\nlast\r\n",
  "bin.dat": Buffer.from("foo\nx\0y\n"),
  "late.dat": Buffer.from(`foo early\n${"line\n".repeat(30_000)}\0\n`),
  "utf16.txt": Buffer.from("\uFEFFfoo wide\r\n", "utf16le"),
  "accents.txt": "Äpfel foo é\nnaïve\n",
  "many.txt": Array.from({ length: 30 }, (_, index) => `${index % 5 === 0 ? "foo" : "---"} ${index}`).join("\n"),
  "long.txt": `${"ä".repeat(3_000)}foo${"y".repeat(3_000)}\n`,
  "span.txt": "begin\nmiddle\nend\nbegin\nend\n",
  "no-end.txt": "foo at the end",
  "sub-repo/.gitignore": "own.txt\n",
  "sub-repo/own.txt": "foo own\n",
  "sub-repo/free.log": "foo free\n",
  "brackets.txt": "a[0] = {x}; $5.00 (foo) a-b\n",
};

const GREPS: Record<string, unknown>[] = [
  { pattern: "foo" },
  { pattern: "foo", output: "files" },
  { pattern: "foo", output: "count" },
  { pattern: "foo", ignore_case: true, output: "count" },
  { pattern: "(?i)foo", output: "count" },
  { pattern: "foo$" },
  { pattern: "^foo" },
  { pattern: "foo", glob: "*.ts" },
  { pattern: "foo", glob: "*.{ts,py}", output: "files" },
  { pattern: "foo", glob: "deep/**", output: "files" },
  { pattern: "foo", glob: "deep/**/*.py", output: "files" },
  { pattern: "foo", glob: "*.log", output: "files" },
  { pattern: "foo", type: "ts" },
  { pattern: "foo", type: "py", glob: "deep/**" },
  { pattern: "foo", type: "nonsense" },
  { pattern: "foo", path: "deep" },
  { pattern: "foo", path: "deep/er", output: "files" },
  { pattern: "foo", path: "secret", output: "files" },
  { pattern: "foo", path: "a.ts" },
  { pattern: "foo", path: "note.log" },
  { pattern: "foo", path: "bin.dat" },
  { pattern: "foo", path: "sub-repo", output: "files" },
  { pattern: "foo", path: "link.txt" },
  { pattern: "foo", path: "nowhere" },
  { pattern: "foo", glob: "many.txt", context: 1 },
  { pattern: "foo", glob: "many.txt", context: 3 },
  { pattern: "foo", glob: "many.txt", limit: 3 },
  { pattern: "foo", output: "files", limit: 3 },
  { pattern: "begin.*end", multiline: true },
  { pattern: "begin.*?end", multiline: true, output: "count" },
  { pattern: "begin\\nend", multiline: true },
  { pattern: "^end$", multiline: true },
  { pattern: "^", multiline: true, glob: "many.txt", output: "count" },
  { pattern: "$", multiline: true, path: "a.ts" },
  { pattern: "middle\\s+end", multiline: true, context: 1 },
  { pattern: "\\bna\\w+e\\b" },
  { pattern: "[[:digit:]]\\.[[:digit:]]+" },
  { pattern: "\\$5\\.00 \\(foo\\) a\\-b" },
  { pattern: "\\{x\\}" },
  { pattern: "a\\[0\\]" },
  { pattern: "(?P<n>fo+) t" },
  { pattern: "\\x{e9}" },
  { pattern: "foo(?= two)" },
  { pattern: "(fo)\\w* \\w*one" },
  { pattern: "(o)\\1", output: "count" },
  { pattern: "nosuch_zzz" },
  { pattern: "foo", type: "", glob: "", path: "" },
];
const GLOBS: Record<string, unknown>[] = [
  { pattern: "**/*" },
  { pattern: "*" },
  { pattern: "*.ts" },
  { pattern: "./*.ts" },
  { pattern: "**/*.{ts,py}" },
  { pattern: "**/*.log" },
  { pattern: "secret/*" },
  { pattern: "deep/**" },
  { pattern: "deep/*/*.py" },
  { pattern: "**/[a-c]*.ts" },
  { pattern: "?.ts" },
  { pattern: "**/*.txt", path: "build" },
  { pattern: "**/*.zzz" },
  { pattern: "*", path: "a.ts" },
  { pattern: "*", path: "nowhere" },
];

const context = (cwd: string) => ({ cwd, callId: "c", signal: new AbortController().signal, progress: () => undefined });
afterEach(() => {
  delete process.env.ROOCODE_RIPGREP;
});

async function tree(files: Readonly<Record<string, string | Buffer>>) {
  const folder = await tempFolder("alike");
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), text);
  }
  return folder;
}

async function both(tool: ReturnType<typeof grepTool>, input: unknown, cwd: string): Promise<[string, string]> {
  delete process.env.ROOCODE_RIPGREP;
  const byRipgrep = await tool.run(tool.parse(input), context(cwd));
  process.env.ROOCODE_RIPGREP = "off";
  const byWalking = await tool.run(tool.parse(input), context(cwd));
  return [byRipgrep, byWalking].map((result) => `${result.isError ? "error " : ""}${resultText(result)}`) as [string, string];
}

test("ripgrep and the walker of our own find the same, in every query of a table", async () => {
  await using folder = await tree(TREE);
  await run("git", ["init", "-q"], { cwd: folder.path });
  await run("git", ["init", "-q"], { cwd: join(folder.path, "sub-repo") });
  await writeFile(join(folder.path, ".git", "info", "exclude"), "excluded.txt\n");
  await symlink("a.ts", join(folder.path, "link.txt"));
  await symlink("deep", join(folder.path, "linked"));
  const different: unknown[] = [];
  for (const [tool, inputs] of [
    [grepTool(), GREPS],
    [globTool(), GLOBS],
  ] as const)
    for (const input of inputs) {
      const [byRipgrep, byWalking] = await both(tool, input, folder.path);
      if (byRipgrep !== byWalking) different.push({ tool: tool.name, input, byRipgrep, byWalking });
    }
  expect(different).toEqual([]);
  const [files] = await both(grepTool(), { pattern: "foo", output: "files" }, folder.path);
  // What is right, once, by hand: G-05 among it.
  expect(files.split("\n")).toEqual(
    [".hidden/h.txt", "a.ts", "accents.txt", "brackets.txt", "build/kept.txt", "crlf.txt", "deep/back.log", "deep/er/z.py"].concat([
      "deep/only-top.txt",
      "keep.log",
      "long.txt",
      "many.txt",
      "no-end.txt",
      "sub-repo/free.log",
      "utf16.txt",
    ]),
  );
});

test.each(["ripgrep", "walker"])("G-01 with the %s an invalid pattern is an error with its reason, and no match is none", async (kind) => {
  if (kind === "walker") process.env.ROOCODE_RIPGREP = "off";
  await using folder = await tree({ f: "foo\n" });
  const grep = grepTool();
  const bad = await grep.run(grep.parse({ pattern: "(" }), context(folder.path));
  expect([bad.isError, resultText(bad)]).toEqual([true, expect.stringMatching(/^Grep: .*(unclosed|missing|[Uu]nterminated)/s)]);
  const none = await grep.run(grep.parse({ pattern: "nosuch_zzz" }), context(folder.path));
  expect([none.isError, resultText(none)]).toEqual([undefined, "No matches."]);
});

test.each(["ripgrep", "walker"])("G-03 with the %s loops of links end, and each file is listed once", async (kind) => {
  if (kind === "walker") process.env.ROOCODE_RIPGREP = "off";
  await using folder = await tree({ "a/x.txt": "foo\n" });
  await symlink("..", join(folder.path, "a", "loop"));
  await symlink("self", join(folder.path, "self"));
  const [glob, grep] = [globTool(), grepTool()];
  expect(resultText(await glob.run(glob.parse({ pattern: "**/*.txt" }), context(folder.path)))).toBe("a/x.txt");
  expect(resultText(await grep.run(grep.parse({ pattern: "foo" }), context(folder.path)))).toBe("a/x.txt:1:foo");
});

test("G-05 a glob that names ignored files does not bring them back", async () => {
  await using folder = await tree({ ".gitignore": "secret/\n*.log\n", "a.log": "foo\n", "secret/b.txt": "foo\n", "c.txt": "foo\n" });
  for (const input of [{ pattern: "**/*.log" }, { pattern: "secret/**" }])
    expect(await both(globTool(), input, folder.path)).toEqual(["No files match.", "No files match."]);
  expect(await both(grepTool(), { pattern: "foo", glob: "*.log" }, folder.path)).toEqual(["No matches.", "No matches."]);
});

test("G-07 fields that the model left empty count as not given", async () => {
  await using folder = await tree({ f: "foo\n" });
  expect(await both(grepTool(), { pattern: "foo", type: "", glob: "", path: "" }, folder.path)).toEqual(["f:1:foo", "f:1:foo"]);
  expect(grepTool().access({ pattern: "foo", path: "" })).toMatchObject({ paths: ["."] });
});

test("G-08 of a giant line comes its number and a window around the hit", async () => {
  await using folder = await tree({ f: `x\n${"a".repeat(3_000_000)}foo${"b".repeat(2_000_000)}\n` });
  for (const text of await both(grepTool(), { pattern: "foo" }, folder.path)) {
    expect(text.length).toBeLessThan(2_000);
    expect(text).toMatch(/^f:2:\[…\] a+foob+ \[…\] \[line of 5000003 characters, from 2999876\]$/);
  }
});

test("G-09 a NUL is a clear error, and totals are those of all that there is", async () => {
  await using folder = await tree(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}.txt`, "foo\nfoo\n"])));
  const glob = globTool();
  const nul = await glob.run(glob.parse({ pattern: "a\0b" }), context(folder.path));
  expect([nul.isError, resultText(nul)]).toEqual([true, "Glob: no file has a NUL in its name or path."]);
  for (const text of await both(grepTool(), { pattern: "foo", output: "count", limit: 100 }, folder.path)) {
    expect(text.split("\n")).toHaveLength(101);
    expect(text).toContain("[500 files with 1000 matches; the first 100 shown");
  }
  for (const text of await both(grepTool(), { pattern: "foo", limit: 10 }, folder.path))
    expect(text).toContain("[1000 matches in 500 files; the first 10 shown");
  for (const text of await both(globTool(), { pattern: "*" }, folder.path))
    expect(text).toContain("[500 files in all, the newest 200 shown");
});

test("R-12 a search says nothing of binary files", async () => {
  await using folder = await tree({ "x.bin": Buffer.from([1, 0, 0x66, 0x6f, 0x6f, 10]), "y.txt": "foo\n" });
  expect(await both(grepTool(), { pattern: "foo" }, folder.path)).toEqual(["y.txt:1:foo", "y.txt:1:foo"]);
  const said = "x.bin is a binary file; it is not searched.";
  expect(await both(grepTool(), { pattern: "foo", path: "x.bin" }, folder.path)).toEqual([said, said]);
});

test("an aborted search ends", async () => {
  await using folder = await tree({ f: "foo\n" });
  const grep = grepTool();
  const aborted = { ...context(folder.path), signal: AbortSignal.abort() };
  await expect(grep.run(grep.parse({ pattern: "foo" }), aborted)).rejects.toThrow();
});
