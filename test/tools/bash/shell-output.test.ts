import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { secretMasker } from "../../../src/safety/secrets.ts";
import { plainText } from "../../../src/tools/bash/plain-text.ts";
import { ShellOutput } from "../../../src/tools/bash/shell-output.ts";
import { tempFolder } from "../../support/temp.ts";

test("a full disk costs the middle of a long output, not the command", () => {
  // Every write to this device says that no space is left.
  const output = new ShellOutput({ path: "/dev/full" });
  for (let line = 0; line < 5_000; line += 1) output.add(Buffer.from(`line ${line} of the output\n`));
  const text = output.finish();
  expect(text).toMatch(/^line 0 of/);
  expect(text).toContain("line 4999 of the output");
  expect(text).toMatch(/bytes left out; the whole could not be saved \(ENOSPC/);
});

test("B-09: a character that comes in two pieces is one", () => {
  const output = new ShellOutput({ path: "/dev/null" });
  for (const byte of Buffer.from("a 中 😀 b")) output.add(Buffer.from([byte]));
  expect(output.finish()).toBe("a 中 😀 b");
});

test("B-10: no cut of head, tail or news falls inside a character", () => {
  for (const before of ["", "x"]) {
    const output = new ShellOutput({ path: "/dev/null" });
    for (let piece = 0; piece < 200; piece += 1) output.add(Buffer.from(before + "😀".repeat(1_000)));
    for (const text of [output.takeNew(), output.lastText(101), output.finish()]) {
      // A lone surrogate does not survive the way through bytes.
      expect(Buffer.from(text).toString()).toBe(text);
      expect(text).not.toContain("\uFFFD");
    }
  }
});

test("B-17: a progress bar is its last frame, also over many pieces, and costs no memory", () => {
  const output = new ShellOutput({ path: "/dev/null" });
  for (let percent = 1; percent <= 500; percent += 1) output.add(Buffer.from(`\r${percent}%`));
  output.add(Buffer.from("\r\ndone\r\n"));
  expect(output.finish()).toBe("500%\ndone\n");
});

test("a private key that comes in pieces is masked whole, in the text and in the file", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "out");
  const output = new ShellOutput({ path, mask: secretMasker() });
  output.keepInFile();
  const [begin, body, end] = [`-----BEGIN ${"PRIVATE"} KEY-----`, "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", `-----END ${"PRIVATE"} KEY-----`];
  for (const line of ["before", begin, body, body, end, "after"]) output.add(Buffer.from(`${line}\n`));
  expect(output.finish()).not.toContain(body);
  const file = await readFile(path, "utf8");
  expect(file).not.toContain(body);
  expect(file).toMatch(/^before\n\[private key hidden\][\s\S]*\nafter\n$/);
});

test("escape sequences of C0 and C1 go, overstrikes are letters, and what turns the reading order is shown", () => {
  const odd = "\x9b31mred\x9b0m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x1bPq#0\x1b\\ N\bNA\bAME \u202egnp.exe\u202c \u{e0041}\u{e0042}!";
  expect(plainText(odd)).toBe("red link  NAME [U+202E]gnp.exe[U+202C] [2 invisible characters]!");
});
