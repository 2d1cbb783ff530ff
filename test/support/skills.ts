import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { tempFolder } from "./temp.ts";

/** Files in a folder of the test's own. */
export async function filesIn(files: Readonly<Record<string, string>>) {
  const folder = await tempFolder("roocode-skills");
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), text);
  };
  for (const [path, text] of Object.entries(files)) await write(path, text);
  return { ...folder, write };
}

export function skillText(fields: Readonly<Record<string, string>>, body = "Do it."): string {
  return `---\n${Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join("")}---\n${body}\n`;
}
