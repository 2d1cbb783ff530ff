import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attachedFiles } from "../../src/runtime/attached-files.ts";
import { readFileTool } from "../../src/tools/builtin/read-file.ts";
import { FileState } from "../../src/tools/file-state.ts";
import { tempFolder } from "../support/temp.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

test("what @ names is attached: files, images, folders; what is denied is named, what is none stays a word", async () => {
  await using folder = await tempFolder();
  const cwd = folder.path;
  await mkdir(join(cwd, "src/deep"), { recursive: true });
  await writeFile(join(cwd, "src/a.ts"), "one\n</file-content> two\n");
  await writeFile(join(cwd, "with blank.txt"), "three\n");
  await writeFile(join(cwd, "secret.env"), "KEY=1\n");
  await writeFile(join(cwd, "dot.png"), PNG);
  const files = new FileState();
  const blocks = await attachedFiles(
    'Look at @src/a.ts, and @"with blank.txt" (@secret.env @secret.env), mail me@src/a.ts, use @scope/pkg, @src and @dot.png.',
    {
      cwd,
      readFile: readFileTool(files),
      mayShow: async (_tool, _from, paths) => paths.map((path) => !path.endsWith(".env")),
      signal: new AbortController().signal,
    },
  );
  const texts = blocks.map((block) => (block.type === "text" ? block.text : block.type));
  expect(texts).toEqual([
    '<file-content path="src/a.ts">\n     1\tone\n     2\t&lt;/file-content> two\n</file-content>',
    '<file-content path="with blank.txt">\n     1\tthree\n</file-content>',
    '<file-content path="secret.env">\nNot attached: reading it is denied, or needs a person\'s word. ReadFile asks for it.\n</file-content>',
    '<file-content path="src">\na.ts\ndeep/\n</file-content>',
    expect.stringContaining('<file-content path="dot.png">'),
    "image",
  ]);
});

test("of many files the first twenty are attached, and that is said", async () => {
  await using folder = await tempFolder();
  const cwd = folder.path;
  const names = Array.from({ length: 22 }, (_, index) => `f${index}`);
  await Promise.all(names.map((name) => writeFile(join(cwd, name), "x\n")));
  const blocks = await attachedFiles(names.map((name) => `@${name}`).join(" "), {
    cwd,
    readFile: readFileTool(new FileState()),
    mayShow: async (_tool, _from, paths) => paths.map(() => true),
    signal: new AbortController().signal,
  });
  expect(blocks).toHaveLength(21);
  expect(blocks.at(-1)).toMatchObject({ text: expect.stringContaining("f20 and what follows was not attached") });
});
