import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fullScreen } from "../../support/full-screen.ts";
import { tempFolder } from "../../support/temp.ts";

const [CTRL_V, ENTER] = ["\x16", "\r"];
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const IMAGE = { type: "image", mediaType: "image/png", data: PIXEL };
const never = new AbortController().signal;

test("Ctrl+V puts a mark for the clipboard's image where the cursor stands, and the words that are sent name it", async () => {
  using shown = fullScreen({ clipboard: async () => ({ bytes: Buffer.from(PIXEL, "base64") }) });
  const { terminal, screen } = shown;
  const prompt = screen.prompt(never);
  terminal.type("what is ");
  terminal.keys(CTRL_V);
  expect(await shown.input()).toBe("what is [Image #1]");
  terminal.type("here?");
  terminal.keys(ENTER);
  const words = (await prompt) ?? "";
  expect(words).toBe("what is [Image #1] here?");
  expect(screen.imagesIn(words)).toEqual([IMAGE]);
  expect(screen.imagesIn("what is [Image #2]?")).toEqual([]);
});

test("what is no image is said, and nothing is put into the input", async () => {
  using broken = fullScreen({ clipboard: async () => ({ bytes: Buffer.from("\x89PNG\r\n\x1a\nhalf", "latin1") }) });
  broken.terminal.keys(CTRL_V);
  expect(await broken.terminal.text()).toMatch(
    /What the clipboard has begins like an image .image.png. of 12 bytes, but is\s+broken or cut off/,
  );
  expect(await broken.input()).toBe("");
  using none = fullScreen();
  none.terminal.keys(CTRL_V);
  expect(await none.terminal.text()).toContain("There is no image in the clipboard.");
});

test.each<[string, (folder: string) => string]>([
  ["as it is, with a blank", (folder) => join(folder, "my dot.png")],
  ["in quotes", (folder) => `'${join(folder, "my dot.png")}' `],
  ["with escaped blanks", (folder) => `${join(folder, "my\\ dot.png")}\n`],
  ["as a URL", (folder) => `file://${join(folder, "my%20dot.png")}`],
])("the path of an image that is pasted or dropped becomes a mark: %s", async (_, pasted) => {
  await using folder = await tempFolder();
  await writeFile(join(folder.path, "my dot.png"), Buffer.from(PIXEL, "base64"));
  using shown = fullScreen();
  shown.terminal.paste(pasted(folder.path));
  expect(await shown.input()).toBe("[Image #1]");
  expect(shown.screen.imagesIn("[Image #1]")).toEqual([IMAGE]);
});

test("several images that are dropped become several marks; a path among words, of another file or of none stays text", async () => {
  await using folder = await tempFolder();
  for (const name of ["a.png", "b.png"]) await writeFile(join(folder.path, name), Buffer.from(PIXEL, "base64"));
  await writeFile(join(folder.path, "notes.txt"), "no image");
  await writeFile(join(folder.path, "fake.png"), "no image");
  const [a, b] = ["a.png", "b.png"].map((name) => join(folder.path, name));
  const pasting = async (text: string) => {
    using shown = fullScreen({ columns: 200 });
    shown.terminal.paste(text);
    return await shown.input();
  };
  expect(await pasting(`${a} '${b}'`)).toBe("[Image #1] [Image #2]");
  for (const text of [
    `look at ${a}`,
    join(folder.path, "notes.txt"),
    join(folder.path, "none.png"),
    `${a} ${join(folder.path, "fake.png")}`,
  ])
    expect(await pasting(text)).toBe(text);
});
