import { spawn } from "node:child_process";
import { chmod, link, readdir, readFile, readlink, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resultText, type ToolResult } from "../../src/protocol/tool.ts";
import { editFileTool } from "../../src/tools/builtin/edit-file.ts";
import { readFileTool } from "../../src/tools/builtin/read-file.ts";
import { writeFileTool } from "../../src/tools/builtin/write-file.ts";
import { FileState } from "../../src/tools/file-state.ts";
import { fakeModel, inOrder } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
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
  test("E-13 E-14 dollar signs in the new text are just text, also with replace_all", async () => {
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
  test("E-26 a file without a final newline stays without one", async () => {
    expect(await edited("one\ntwo\nthree", "one", "ONE")).toBe("ONE\ntwo\nthree");
  });
  test("E-04 spaces for a tab are not guessed: the nearest line is shown with its tab", async () => {
    await using one = await files({ Makefile: "all:\n\techo hi\n" });
    await one.read({ path: "Makefile" });
    const result = await one.edit({ path: "Makefile", old_string: "    echo hi", new_string: "    echo bye" });
    expect(result.isError).toBe(true);
    expect(resultText(result)).toContain("2: →echo hi");
    expect(resultText(result)).toContain("tabs and blanks at the start of the line");
    expect((await one.bytes("Makefile")).toString()).toBe("all:\n\techo hi\n");
  });
  test("E-15 a text that occurs several times is refused with its lines", async () => {
    const text = "a\nb\nc\n  return null;\n}\n1\n2\n3\n  return null;\n}\n1\n2\n3\n  return null;\n}\n";
    await using one = await files({ f: text });
    await one.read({ path: "f" });
    const result = await one.edit({ path: "f", old_string: "  return null;\n}", new_string: "y" });
    expect(resultText(result)).toContain("3 times (lines 4, 9, 14)");
    expect((await one.bytes("f")).toString()).toBe(text);
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
  test("E-19 a file that was not read, or changed since, is refused and stays as it is", async () => {
    await using one = await files({ f: "a\n" });
    expect(resultText(await one.edit({ path: "f", old_string: "a", new_string: "b" }))).toContain("not read yet");
    await one.read({ path: "f" });
    await writeFile(join(one.path, "f"), "a outside\n");
    expect(resultText(await one.edit({ path: "f", old_string: "a", new_string: "b" }))).toContain("changed on disk");
    expect((await one.bytes("f")).toString()).toBe("a outside\n");
  });
  test("E-19 a change of the same size with the same time is seen, for a write too", async () => {
    await using one = await files({ f: "a\n" });
    await utimes(join(one.path, "f"), 1, 1);
    await one.read({ path: "f" });
    await writeFile(join(one.path, "f"), "b\n");
    await utimes(join(one.path, "f"), 1, 1);
    expect((await one.edit({ path: "f", old_string: "a", new_string: "b" })).isError).toBe(true);
    expect((await one.write({ path: "f", content: "c" })).isError).toBe(true);
    expect((await one.bytes("f")).toString()).toBe("b\n");
  });
  test("E-21 mode bits are kept, and a link stays a link", async () => {
    await using one = await files({ "run.sh": "echo a\n", "key.pem": "a\n" });
    await chmod(join(one.path, "run.sh"), 0o755);
    await chmod(join(one.path, "key.pem"), 0o600);
    await one.read({ path: "key.pem" });
    await one.edit({ path: "key.pem", old_string: "a", new_string: "b" });
    expect((await stat(join(one.path, "key.pem"))).mode & 0o777).toBe(0o600);
    await symlink("run.sh", join(one.path, "link.sh"));
    await one.read({ path: "link.sh" });
    await one.edit({ path: "link.sh", old_string: "a", new_string: "b" });
    expect((await stat(join(one.path, "run.sh"))).mode & 0o777).toBe(0o755);
    expect((await one.bytes("run.sh")).toString()).toBe("echo b\n");
    expect((await readlink(join(one.path, "link.sh"))).toString()).toBe("run.sh");
    expect((await readdir(one.path)).sort()).toEqual(["key.pem", "link.sh", "run.sh"]);
  });
  test("E-11 E-17 typographic quotes, full-width letters and hard breaks beside an edit keep their bytes", async () => {
    expect(await edited("msg = “hi” + 'x'\n", "'x'", "'y'")).toBe(Buffer.from("msg = “hi” + 'y'\n").toString("latin1"));
    const text = "# 标题：全角ＡＢＣ\n> “引号” — ①②③ ﬁ　缩进\nhard break  \nconst a = 1; \n";
    await using one = await files({ f: text });
    await one.read({ path: "f" });
    const result = await one.edit({ path: "f", old_string: "const a = 1;\n", new_string: "const a = 2;\n" });
    expect(resultText(result)).toContain("4: const a = 1;·\nIt differs in blanks at the end of the line.");
    expect((await one.bytes("f")).toString()).toBe(text);
  });
  test("E-25 entities are text like any other", async () => {
    expect(await edited("<p>a &amp; b</p>\n", "a &amp; b", "a &amp; c &lt;d&gt; &apos;")).toBe("<p>a &amp; c &lt;d&gt; &apos;</p>\n");
  });
  test("E-27 a blank last line and hard breaks survive edits to and fro", async () => {
    await using one = await files({ f: "red  \nblue\n\n" });
    await one.read({ path: "f" });
    for (const [from, to] of [
      ["blue", "BLUE"],
      ["BLUE", "blue"],
      ["blue", "BLUE"],
    ])
      await one.edit({ path: "f", old_string: from, new_string: to });
    expect((await one.bytes("f")).toString()).toBe("red  \nBLUE\n\n");
  });
  test.each(["utf-16le", "utf-16be"])("E-10 a file in %s is shown and edited as text, and stays one", async (encoding) => {
    const encode = (text: string) => {
      const bytes = Buffer.from(`\uFEFF${text}`, "utf16le");
      return encoding === "utf-16be" ? bytes.swap16() : bytes;
    };
    await using one = await files({ u: encode("name=old\r\n# é 🦘\r\n") });
    expect(resultText(await one.read({ path: "u" }))).toContain("     1\tname=old\n     2\t# é 🦘");
    expect((await one.edit({ path: "u", old_string: "old\n", new_string: "né🦘w\n" })).isError).toBeUndefined();
    expect(await one.bytes("u")).toEqual(encode("name=né🦘w\r\n# é 🦘\r\n"));
    await one.write({ path: "u", content: "a\nb\n" });
    expect(await one.bytes("u")).toEqual(encode("a\r\nb\r\n"));
  });
  test("a file that names its encoding is shown and edited in it; a character that it lacks is refused", async () => {
    const gbk = Buffer.concat([Buffer.from("# coding: gbk\nx = '"), Buffer.from([0xd6, 0xd0, 0x81, 0x5c]), Buffer.from("|'\n")]);
    await using one = await files({ g: gbk });
    expect(resultText(await one.read({ path: "g" }))).toContain("x = '中乗|'");
    await one.edit({ path: "g", old_string: "中", new_string: "国中" });
    expect((await one.bytes("g")).subarray(19)).toEqual(Buffer.from([0xb9, 0xfa, 0xd6, 0xd0, 0x81, 0x5c, 0x7c, 0x27, 0x0a]));
    expect(resultText(await one.edit({ path: "g", old_string: "中", new_string: "🦘" }))).toContain("iconv");
    // 0x5c is the second half of 乗 there, no backslash.
    expect(resultText(await one.edit({ path: "g", old_string: "\\|", new_string: "!" }))).toContain("second half");
  });
  test("E-05 where no encoding is named, a match that may begin inside a character is refused, and so is other text", async () => {
    const bytes = Buffer.concat([Buffer.from([0x81, 0x5c]), Buffer.from("|\nok = 1\n")]);
    await using one = await files({ s: bytes, l: Buffer.from("r\xe9 | caf\xe9\n\xe9 \xff\n", "latin1") });
    for (const path of ["s", "l"]) await one.read({ path });
    expect(resultText(await one.edit({ path: "s", old_string: "\\|", new_string: "/" }))).toContain("second half");
    expect((await one.edit({ path: "s", old_string: "ok = 1", new_string: "ok = 2" })).isError).toBeUndefined();
    expect((await one.bytes("s")).subarray(0, 3)).toEqual(bytes.subarray(0, 3));
    // 0xff is in none of the double-byte encodings, so this is a single-byte file.
    expect((await one.edit({ path: "l", old_string: " caf", new_string: " CAF" })).isError).toBeUndefined();
    expect(resultText(await one.edit({ path: "l", old_string: "café", new_string: "x" }))).toContain("iconv");
    expect(resultText(await one.write({ path: "l", content: "x" }))).toContain("iconv");
  });
  test("the nearest place is the one where most of several lines stand, with what differs", async () => {
    await using one = await files({ f: `if (a) {\n  b();\n}\n${"x\n".repeat(50)}if (a) {\n\tc(“d”);\n\te\u0301;\n}\n` });
    await one.read({ path: "f" });
    const text = resultText(await one.edit({ path: "f", old_string: 'if (a) {\n  c("d");\n  é;\n}', new_string: "" }));
    expect(text).toContain("Nearest, line 54");
    expect(text).toContain("55: →c(“d”);");
    expect(text).toContain("tabs and blanks at the start of the line, typographic quotes or dashes, accents as marks");
    expect(resultText(await one.edit({ path: "f", old_string: "  b( );", new_string: "" }))).toContain("2:   b();");
  });
  test("line endings of old_string are not what it is found by, and the file's stay", async () => {
    expect(await edited("a\r\nb\r\n", "a\r\nb", "x\r\ny")).toBe("x\r\ny\r\n");
    expect(await edited("a\nb\n", "a\r\nb", "x\r\ny")).toBe("x\ny\n");
  });
  test("a hard link keeps its other name's content: the entry is replaced, not the shared file", async () => {
    await using one = await files({ a: "one\n" });
    await link(join(one.path, "a"), join(one.path, "b"));
    await one.read({ path: "a" });
    await one.edit({ path: "a", old_string: "one", new_string: "two" });
    expect([(await one.bytes("a")).toString(), (await one.bytes("b")).toString()]).toEqual(["two\n", "one\n"]);
  });
  test("E-28 a file over the limit is refused at once, unread", async () => {
    await using one = await files({ big: "" });
    await truncate(join(one.path, "big"), 1_500 * 1024 * 1024);
    expect(resultText(await one.edit({ path: "big", old_string: "a", new_string: "b" }))).toContain("1572864000 bytes");
    expect(resultText(await one.read({ path: "big", offset: 1, limit: 5 }))).toContain("binary file of 1572864000 bytes");
  });
  test("random files keep every byte outside of a unique text that is replaced", async () => {
    await using folder = await tempFolder();
    const state = new FileState();
    const [read, edit] = [readFileTool(state), editFileTool(state)];
    const context = { cwd: folder.path, callId: "c", signal: new AbortController().signal, progress: () => undefined };
    const line = fc.tuple(fc.stringMatching(/^[a-cé“字🦘\t $&]{0,12}$/u), fc.constantFrom("\n", "\r\n"));
    const forms = { utf8: "", bom: "\uFEFF", utf16le: "\uFEFF" } as const;
    await fc.assert(
      fc.asyncProperty(
        fc.array(line),
        fc.array(line),
        fc.constantFrom("utf8", "bom", "utf16le"),
        fc.stringMatching(/^[x$\n🦘]{0,6}$/u),
        async (head, tail, form, made) => {
          const encode = (text: string) => Buffer.from(text, form === "utf16le" ? "utf16le" : "utf8");
          const [before, after] = [head, tail].map((some) => some.flat().join(""));
          const path = join(folder.path, "f");
          await writeFile(path, encode(`${forms[form]}${before}UNIQUE${after}`));
          await read.run(read.parse({ path }), context);
          await edit.run(edit.parse({ path, old_string: "UNIQUE", new_string: made }), context);
          const ending = tail[0]?.[1] ?? head.at(-1)?.[1] ?? "\n";
          expect(await readFile(path)).toEqual(encode(`${forms[form]}${before}${made.replaceAll("\n", ending)}${after}`));
        },
      ),
      { numRuns: 150 },
    );
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
  test("E-03 what becomes of mixed endings is said", async () => {
    await using one = await files({ f: "a\r\nb\n" });
    await one.read({ path: "f" });
    expect(resultText(await one.write({ path: "f", content: "a\nc\n" }))).toContain("CRLF and LF mixed; they are LF on every line now");
  });
  test("E-09 one BOM stays, after an edit elsewhere and after a rewrite", async () => {
    await using one = await files({ f: "\uFEFFé\ná\nend ő\n" });
    expect(resultText(await one.read({ path: "f" }))).not.toContain("\uFEFF");
    await one.edit({ path: "f", old_string: "end", new_string: "END" });
    expect((await one.bytes("f")).toString()).toBe("\uFEFFé\ná\nEND ő\n");
    await one.write({ path: "f", content: "\uFEFFé\ná\nő\n" });
    expect((await one.bytes("f")).toString()).toBe("\uFEFFé\ná\nő\n");
  });
  test("E-24 a write that finds no room leaves the old file, nothing aside, and names the cause", async () => {
    await using home = await testHome({ "f.txt": "x".repeat(10_240) });
    const calls = [
      { calls: [{ name: "ReadFile", input: { path: "f.txt" } }] },
      { calls: [{ name: "WriteFile", input: { path: "f.txt", content: "y".repeat(2_000_000) } }] },
    ];
    await using model = await fakeModel(inOrder(...calls, { text: "still here" }));
    const run = await home.roocode(["-p", "x", "--permission-mode", "bypassPermissions"], {
      env: model.env("anthropic"),
      through: ["sh", "-c", 'ulimit -f 1024; exec "$@"', "sh"],
    });
    expect(run.stdout).toBe("still here\n");
    expect(JSON.stringify(model.requests.at(-1)?.steps)).toMatch(/EFBIG|too large/);
    expect(await readFile(join(home.repo, "f.txt"), "utf8")).toBe("x".repeat(10_240));
    expect((await readdir(home.repo)).sort()).toEqual([".git", "f.txt"]);
  });
  test("E-23 a kill in the middle of a write leaves the old content or the new", async () => {
    const [old, fresh] = ["o".repeat(1_024), "n".repeat(40_000_000)];
    await using folder = await tempFolder();
    const path = join(folder.path, "f");
    const program = join(folder.path, "write-large.mjs");
    await build({
      entryPoints: ["test/support/write-large.ts"],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20.19",
    });
    const seen = new Set<string>();
    for (let round = 0; round < 20; round++) {
      await writeFile(path, old);
      const child = spawn(process.execPath, [program, path], { stdio: ["ignore", "pipe", "inherit"] });
      const ended = new Promise((resolve) => child.once("exit", resolve));
      await Promise.race([ended, new Promise((resolve) => child.stdout.once("data", resolve))]);
      expect(child.exitCode).toBeNull();
      setTimeout(() => child.kill("SIGKILL"), round * 5);
      await ended;
      const text = await readFile(path, "utf8");
      seen.add(text === old ? "old" : text === fresh ? "new" : `broken ${text.length}`);
    }
    expect([...seen].filter((one) => one.startsWith("broken"))).toEqual([]);
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
      "     3\t\tline 3\n     4\t\tline 4\n[lines 3-4 of 10; more lines follow: read on with offset 5]",
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
    expect(text).toContain("[… line cut … it has 300000 characters");
    expect(text).toContain("     2\tend");
  });
});
