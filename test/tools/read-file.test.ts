import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resultText } from "../../src/protocol/tool.ts";
import { readFileTool } from "../../src/tools/builtin/read-file.ts";
import { FileState } from "../../src/tools/file-state.ts";
import { tempFolder } from "../support/temp.ts";

async function folder(files: Record<string, string | Buffer>) {
  const temp = await tempFolder("read");
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(temp.path, name), bytes);
  const tool = readFileTool(new FileState());
  const context = { cwd: temp.path, callId: "c", signal: new AbortController().signal, progress: () => undefined };
  const read = (input: object) => tool.run(tool.parse(input), context);
  return { path: temp.path, tool, read, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("R-01 R-11 a pipe is refused without waiting, and a directory is named with what is in it", async () => {
  await using at = await folder({});
  execFileSync("mkfifo", [join(at.path, "p")]);
  await mkdir(join(at.path, "src", "inner"), { recursive: true });
  expect(resultText(await at.read({ path: "p" }))).toContain("not a regular file");
  expect(resultText(await at.read({ path: "src" }))).toMatch(/directory\. In it: inner\. See more with Glob/);
});

test("R-03 an image goes by its bytes: text with an image's name is text, an image of any name is one, a broken one is not shown", async () => {
  const png = Buffer.from(PIXEL, "base64");
  await using at = await folder({ "pic.jpg": "<html>log in</html>\n", "photo.txt": png, "cut.png": png.subarray(0, 40) });
  const text = await at.read({ path: "pic.jpg" });
  expect(resultText(text)).toContain("<html>log in</html>\n[the name says image, but the content is text]");
  expect((await at.read({ path: "photo.txt" })).content).toEqual([{ type: "image", mediaType: "image/png", data: PIXEL }]);
  expect(resultText(await at.read({ path: "cut.png" }))).toContain("broken or cut off");
});

test("R-06 of an enormous line comes its start, its real length and a way to the rest", async () => {
  await using at = await folder({ f: `${"x".repeat(5_000_000)}NEEDLE` });
  const text = resultText(await at.read({ path: "f" }));
  expect(text.length).toBeLessThan(10_000);
  expect(text).toContain(
    "it has 5000006 characters; find a place in it with Grep, or see more with Bash: sed -n 1p 'f' | cut -c 2001-4000",
  );
});

test("R-07 an empty file, an offset past the end, one line of the middle, an offset that is a text", async () => {
  await using at = await folder({ empty: "", f: "a\nb\nc\n" });
  expect(resultText(await at.read({ path: "empty" }))).toContain("file is empty");
  expect(resultText(await at.read({ path: "f", offset: 10 }))).toContain("file has 3 lines");
  expect(resultText(await at.read({ path: "f", offset: 2, limit: 1 }))).toMatch(/^ {5}2\tb\n\[lines 2-2 of 3;/);
  expect(() => at.tool.parse({ path: "f", offset: "2" })).toThrow(/offset/);
});

test("R-08 a name with odd blanks or split accents is named when it is asked for in its plain form", async () => {
  await using at = await folder({ "Shot 10.15\u202fAM.png": "x", "cafe\u0301.txt": "x" });
  expect(resultText(await at.read({ path: "Shot 10.15 AM.png" }))).toContain('"Shot 10.15\\u202fAM.png"');
  expect(resultText(await at.read({ path: "caf\u00e9.txt" }))).toContain('"cafe\\u0301.txt"');
});

test("R-09 a line separator is text within a line", async () => {
  await using at = await folder({ f: "a\u2028b\n" });
  expect(resultText(await at.read({ path: "f" }))).toBe("     1\ta\u2028b");
});

test("R-12 of a binary file come type and size", async () => {
  await using at = await folder({ "x.bin": Buffer.alloc(2_000, 0), "z.zip": Buffer.from("PK\x03\x04\0\0") });
  expect(resultText(await at.read({ path: "x.bin" }))).toContain("a binary file of 2000 bytes");
  expect(resultText(await at.read({ path: "z.zip" }))).toContain("a ZIP file of 6 bytes");
});

test("a notebook is shown as cells with bounded outputs and its images", async () => {
  const outputs = [
    { output_type: "stream", text: ["y".repeat(5_000)] },
    { output_type: "display_data", data: { "image/png": PIXEL } },
  ];
  const cells = [{ cell_type: "code", source: ["a = 1\n", "a"], execution_count: 3, outputs }];
  await using at = await folder({ "n.ipynb": JSON.stringify({ cells, nbformat: 4 }), "bad.ipynb": "{ no json" });
  const result = await at.read({ path: "n.ipynb" });
  expect(resultText(result)).toContain("[cell 1: code, run 3]\n     2\ta = 1\n     3\ta\n");
  expect(resultText(result)).toContain("[… output cut … it has 5000 characters]");
  expect(result.content.at(-1)).toEqual({ type: "image", mediaType: "image/png", data: PIXEL });
  expect(resultText(await at.read({ path: "bad.ipynb" }))).toContain("{ no json");
});
