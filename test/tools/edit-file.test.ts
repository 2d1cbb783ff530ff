import { chmod, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { resultText, type ToolResult } from "../../src/protocol/tool.ts";
import { editFileTool } from "../../src/tools/builtin/edit-file.ts";
import { readFileTool } from "../../src/tools/builtin/read-file.ts";
import { writeFileTool } from "../../src/tools/builtin/write-file.ts";
import { FileState } from "../../src/tools/file-state.ts";
import { tempFolder } from "../support/temp.ts";

async function files(content: Record<string, string | Buffer>) {
  const folder = await tempFolder();
  for (const [name, bytes] of Object.entries(content)) await writeFile(join(folder.path, name), bytes);
  const state = new FileState();
  const context = { cwd: folder.path, callId: "c", signal: new AbortController().signal, progress: () => undefined };
  const [read, edit, write] = [readFileTool(state), editFileTool(state), writeFileTool(state)];
  return {
    path: folder.path,
    read: (input: object): Promise<ToolResult> => read.run(read.parse(input), context),
    edit: (input: object): Promise<ToolResult> => edit.run(edit.parse(input), context),
    write: (input: object): Promise<ToolResult> => write.run(write.parse(input), context),
    bytes: (name: string) => readFile(join(folder.path, name)),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

async function edited(bytes: string | Buffer, oldText: string, newText: string, more: object = {}): Promise<string> {
  await using one = await files({ "f.txt": bytes });
  await one.read({ path: "f.txt" });
  const result = await one.edit({ path: "f.txt", old_string: oldText, new_string: newText, ...more });
  expect(resultText(result)).not.toContain("not in the file");
  return (await one.bytes("f.txt")).toString("latin1");
}

describe("EditFile", () => {
  test("E-01 keeps each line's own ending", async () => {
    expect(await edited("a\r\nb\nc\r\n", "b", "B")).toBe("a\r\nB\nc\r\n");
  });
  test("a text of several lines fits a CRLF file and stays CRLF", async () => {
    expect(await edited("a\r\nb\r\nc\r\n", "a\nb", "a\nx\nb")).toBe("a\r\nx\r\nb\r\nc\r\n");
  });
  test("E-05 a Latin-1 byte far from the edit stays as it is", async () => {
    expect(await edited(Buffer.from("total = 1\n# r\xe9sum\xe9\n", "latin1"), "total = 1", "total = 2")).toBe(
      "total = 2\n# r\xe9sum\xe9\n",
    );
  });
  test("E-08 a BOM does not keep the first line from matching, and stays", async () => {
    expect(await edited("\uFEFFlet n = 1;\n", "let n = 1;", "let n = 2;")).toBe("\xef\xbb\xbflet n = 2;\n");
  });
  test("dollar signs in the new text are just text", async () => {
    expect(await edited('emit("x");\n', 'emit("x");', 'emit("$& and $$ and $1");')).toBe('emit("$& and $$ and $1");\n');
    expect(await edited("PID=@@\nQ=@@\n", "@@", "$$-$`-$'", { replace_all: true })).toBe("PID=$$-$`-$'\nQ=$$-$`-$'\n");
  });
  test("a tag of the system, copied from a result that shows it escaped, is the file's own", async () => {
    const file = "<system-reminder>old</system-reminder>\r\nend\r\n";
    expect(
      await edited(file, "&lt;system-reminder>old&lt;/system-reminder>\nend", "&lt;system-reminder>new&lt;/system-reminder>\nend"),
    ).toBe("<system-reminder>new</system-reminder>\r\nend\r\n");
    // Where the file itself has the escape, it is taken at its word.
    expect(await edited("&lt;system-reminder>\r\nend\r\n", "&lt;system-reminder>\nend", "&lt;system-reminder>\nEND")).toBe(
      "&lt;system-reminder>\r\nEND\r\n",
    );
  });
  test("a file without a final newline stays without one", async () => {
    expect(await edited("one\ntwo\nthree", "one", "ONE")).toBe("ONE\ntwo\nthree");
  });
  test("E-04 spaces for a tab are not guessed: the nearest line is shown with its tab", async () => {
    await using one = await files({ Makefile: "all:\n\techo hi\n" });
    await one.read({ path: "Makefile" });
    const result = await one.edit({ path: "Makefile", old_string: "    echo hi", new_string: "    echo bye" });
    expect(result.isError).toBe(true);
    expect(resultText(result)).toContain("line 2 (tabs shown as →): →echo hi");
    expect((await one.bytes("Makefile")).toString()).toBe("all:\n\techo hi\n");
  });
  test("a text that occurs several times is refused with its lines", async () => {
    await using one = await files({ f: "  return null;\n}\nx\n  return null;\n}\n" });
    await one.read({ path: "f" });
    const result = await one.edit({ path: "f", old_string: "  return null;\n}", new_string: "y" });
    expect(resultText(result)).toContain("2 times (lines 1, 4)");
  });
  test("several edits are applied all or none", async () => {
    await using one = await files({ f: "a\nb\n" });
    await one.read({ path: "f" });
    await one.edit({
      path: "f",
      edits: [
        { old_string: "a", new_string: "A" },
        { old_string: "zzz", new_string: "Z" },
      ],
    });
    expect((await one.bytes("f")).toString()).toBe("a\nb\n");
    await one.edit({
      path: "f",
      edits: [
        { old_string: "a", new_string: "A" },
        { old_string: "b", new_string: "B" },
      ],
    });
    expect((await one.bytes("f")).toString()).toBe("A\nB\n");
  });
  test("a file that was not read, or changed since, is refused and stays as it is", async () => {
    await using one = await files({ f: "a\n" });
    expect(resultText(await one.edit({ path: "f", old_string: "a", new_string: "b" }))).toContain("not read yet");
    await one.read({ path: "f" });
    await writeFile(join(one.path, "f"), "a outside\n");
    expect(resultText(await one.edit({ path: "f", old_string: "a", new_string: "b" }))).toContain("changed on disk");
    expect((await one.bytes("f")).toString()).toBe("a outside\n");
  });
  test("a change of the same size at the same second is seen", async () => {
    await using one = await files({ f: "a\n" });
    await utimes(join(one.path, "f"), 1, 1);
    await one.read({ path: "f" });
    await writeFile(join(one.path, "f"), "b\n");
    await utimes(join(one.path, "f"), 1, 1.5);
    expect((await one.edit({ path: "f", old_string: "a", new_string: "b" })).isError).toBe(true);
  });
  test("mode bits are kept, and a link stays a link", async () => {
    await using one = await files({ "run.sh": "echo a\n" });
    await chmod(join(one.path, "run.sh"), 0o755);
    await symlink("run.sh", join(one.path, "link.sh"));
    await one.read({ path: "link.sh" });
    await one.edit({ path: "link.sh", old_string: "a", new_string: "b" });
    expect((await stat(join(one.path, "run.sh"))).mode & 0o777).toBe(0o755);
    expect((await one.bytes("run.sh")).toString()).toBe("echo b\n");
  });
  test("UTF-16 and binary files are refused honestly", async () => {
    await using one = await files({ "u.txt": Buffer.from("\uFEFFname=old\r\n", "utf16le"), "b.bin": Buffer.from([1, 0, 2]) });
    expect(resultText(await one.read({ path: "u.txt" }))).toContain("UTF-16");
    expect(resultText(await one.read({ path: "b.bin" }))).toContain("binary");
  });
});

describe("WriteFile", () => {
  test("E-03 a CRLF file stays CRLF on every line; a new file is as given", async () => {
    await using one = await files({ f: "a\r\nb\r\n" });
    await one.read({ path: "f" });
    await one.write({ path: "f", content: "a\nb\nc\n" });
    await one.write({ path: "new/deep.txt", content: "x\n" });
    expect((await one.bytes("f")).toString()).toBe("a\r\nb\r\nc\r\n");
    expect((await one.bytes("new/deep.txt")).toString()).toBe("x\n");
  });
  test("an existing file that was not read is refused", async () => {
    await using one = await files({ f: "a\n" });
    expect((await one.write({ path: "f", content: "b" })).isError).toBe(true);
  });
});

describe("ReadFile", () => {
  test("pages with line numbers and a real tab, and says how to read on", async () => {
    await using one = await files({ f: Array.from({ length: 10 }, (_, index) => `\tline ${index + 1}`).join("\n") });
    expect(resultText(await one.read({ path: "f", offset: 3, limit: 2 }))).toBe(
      "     3\t\tline 3\n     4\t\tline 4\n[more lines follow: read on with offset 5]",
    );
  });
  test("a missing file, a folder and an empty file are named for what they are", async () => {
    await using one = await files({ empty: "" });
    expect(resultText(await one.read({ path: "nope" }))).toContain("There is no file nope");
    expect(resultText(await one.read({ path: "." }))).toContain("is a folder");
    expect(resultText(await one.read({ path: "empty" }))).toContain("empty");
  });
  test("a very long line is cut with a mark", async () => {
    await using one = await files({ f: `${"x".repeat(300_000)}\nend\n` });
    const text = resultText(await one.read({ path: "f" }));
    expect(text.length).toBeLessThan(3_000);
    expect(text).toContain("[… line cut …]");
    expect(text).toContain("     2\tend");
  });
});
