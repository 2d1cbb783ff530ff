import { readdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { ImageBlock, TextBlock } from "../protocol/message.ts";
import { escapeSystemTags } from "../protocol/system-tags.ts";
import { type MayShow, resultText, type Tool } from "../protocol/tool.ts";

type Attaching = { cwd: string; readFile: Tool; mayShow: MayShow; signal: AbortSignal };

/** At the start or behind a blank; with quotes where the path has blanks. What no file is stays a word. */
const MENTION = /(?:^|\s)@(?:"([^"\n]+)"|([^\s"]+))/g;
const MOST_FILES = 20;
const MOST_ENTRIES = 200;

/**
 * What the person names with `@path`: a file as ReadFile shows it, an image as such, a folder as its list. What the agent may not read
 * unasked is not attached, and said so: words that were pasted may hold a path too.
 */
export async function attachedFiles(text: string, attaching: Attaching): Promise<(TextBlock | ImageBlock)[]> {
  const paths = new Set([...text.matchAll(MENTION)].map(([, quoted, plain = ""]) => quoted ?? plain.replace(/[.,;:!?)]+$/, "")));
  const blocks: (TextBlock | ImageBlock)[] = [];
  let count = 0;
  for (const path of paths) {
    const place = resolve(attaching.cwd, path.replace(/^~(?=\/|$)/, homedir()));
    const found = await stat(place).catch(() => undefined);
    if (!found?.isFile() && !found?.isDirectory()) continue;
    count += 1;
    if (count > MOST_FILES) {
      blocks.push({ type: "text", text: `[More than ${MOST_FILES} files are named; ${path} and what follows was not attached: read it.]` });
      break;
    }
    blocks.push(...(await attach(path, place, found.isDirectory(), attaching)));
  }
  return blocks;
}

async function attach(path: string, place: string, isFolder: boolean, attaching: Attaching): Promise<(TextBlock | ImageBlock)[]> {
  const { cwd, readFile, mayShow, signal } = attaching;
  const [may] = await mayShow(readFile.name, cwd, [place]);
  if (!may) return [tagged(path, "Not attached: reading it is denied, or needs a person's word. ReadFile asks for it.")];
  if (isFolder) return [tagged(path, await listOf(place))];
  const context = { cwd, callId: `@${path}`, signal, progress: () => undefined };
  const result = await readFile.run(readFile.parse({ path: place }), context);
  const images = result.content.filter((block) => block.type === "image");
  return [tagged(path, resultText(result)), ...images];
}

function tagged(path: string, text: string): TextBlock {
  return {
    type: "text",
    text: `<file-content path="${escapeSystemTags(path).replaceAll('"', "&quot;")}">\n${escapeSystemTags(text)}\n</file-content>`,
  };
}

async function listOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const more = names.length > MOST_ENTRIES ? [`… and ${names.length - MOST_ENTRIES} more`] : [];
  return [...names.slice(0, MOST_ENTRIES), ...more].join("\n");
}
