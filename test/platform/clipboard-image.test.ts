import { chmod, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clipboardImage } from "../../src/platform/clipboard-image.ts";
import { tempFolder } from "../support/temp.ts";

/** All 256 bytes: nothing on the way may take them for text. */
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, index) => index));

async function programs(scripts: Readonly<Record<string, string>>) {
  const folder = await tempFolder();
  await writeFile(join(folder.path, "image"), BYTES);
  for (const name of ["sh", "cat", "od", "tr"]) await symlink(`/usr/bin/${name}`, join(folder.path, name));
  for (const [name, script] of Object.entries(scripts)) {
    const file = join(folder.path, name);
    await writeFile(file, `#!${join(folder.path, "sh")}\n${script.replaceAll("IMAGE", join(folder.path, "image"))}\n`);
    await chmod(file, 0o755);
  }
  return { env: { PATH: folder.path }, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test.each<[string, NodeJS.Platform, Readonly<Record<string, string>>]>([
  ["wl-paste", "linux", { "wl-paste": '[ "$3" = image/png ] && cat IMAGE' }],
  ["xclip where Wayland has none", "linux", { "wl-paste": "exit 1", xclip: '[ "$4" = image/jpeg ] && cat IMAGE' }],
  ["pngpaste", "darwin", { pngpaste: "cat IMAGE" }],
  [
    "osascript where there is no pngpaste",
    "darwin",
    { osascript: 'printf "«data PNGf"; od -An -v -tx1 IMAGE | tr -d " \\n" | tr a-f A-F; echo "»"' },
  ],
])("an image comes byte by byte from %s", async (_, system, scripts) => {
  await using there = await programs(scripts);
  expect(await clipboardImage(there.env, system)).toEqual({ bytes: BYTES });
});

test("without an image, or without a program that reads it, one line says so", async () => {
  await using text = await programs({ xclip: "echo 'Error: target image/png not available' >&2; exit 1" });
  expect(await clipboardImage(text.env, "linux")).toEqual({
    problem: "There is no image in the clipboard. Text is pasted with your terminal's own key.",
  });
  await using none = await programs({});
  expect(await clipboardImage(none.env, "linux")).toEqual({
    problem: "To paste an image, install wl-paste (package wl-clipboard) or xclip, or paste the path of an image file.",
  });
});
