import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import type { ImageBlock } from "../protocol/message.ts";
import { resultText } from "../protocol/tool.ts";
import { imageResult, MAX_IMAGE_BYTES } from "../tools/read/image.ts";
import { kindOf } from "../tools/read/kind.ts";

const MARK = /\[Image #(\d+)\]/g;
const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;
/** As terminals write what is dropped on them: in quotes, or with a backslash before what a shell would read. */
const WORD = /'([^']*)'|"([^"]*)"|((?:\\.|[^\s'"\\])+)/g;

/** Images that the person pasted. In the text a mark stands for each; whoever sends the text asks for them. */
export class PastedImages {
  readonly #images: ImageBlock[] = [];
  readonly #onProblem: (text: string) => void;

  constructor(onProblem: (text: string) => void) {
    this.#onProblem = onProblem;
  }

  /** Its mark; undefined for what is no image that a model can see, which is said. */
  add(bytes: Buffer, shown: string): string | undefined {
    const kind = kindOf(bytes);
    const result = kind?.type === "image" ? imageResult(bytes, kind.mediaType, shown) : undefined;
    const image = result?.content.find((block) => block.type === "image");
    if (!image) {
      this.#onProblem(result ? resultText(result) : `${shown} is no PNG, JPEG, GIF or WebP image.`);
      return undefined;
    }
    this.#images.push(image);
    return `[Image #${this.#images.length}]`;
  }

  /** Marks in the place of the paths of image files, where the pasted text is nothing else. */
  marksFor(pasted: string): string | undefined {
    const paths = pathsIn(pasted);
    const files = paths.map((path) => (IMAGE_NAME.test(path) ? statSync(path, { throwIfNoEntry: false }) : undefined));
    if (paths.length === 0 || !files.every((file) => file?.isFile())) return undefined;
    const large = paths.find((_, index) => (files[index]?.size ?? 0) > MAX_IMAGE_BYTES);
    if (large !== undefined) this.#onProblem(`${large} is larger than ${MAX_IMAGE_BYTES} bytes: only its path was pasted.`);
    const marks = large === undefined ? paths.map((path) => this.add(readFileSync(path), path)) : [];
    return marks.length > 0 && marks.every((mark) => mark !== undefined) ? marks.join(" ") : undefined;
  }

  in(text: string): ImageBlock[] {
    const numbers = new Set([...text.matchAll(MARK)].map(([, number]) => Number(number)));
    return [...numbers].flatMap((number) => this.#images[number - 1] ?? []);
  }
}

/** Full paths; none where a word of the text is something else. */
function pathsIn(pasted: string): string[] {
  const text = pasted.trim();
  if (text.length > 10_000 || /[\r\n]/.test(text)) return [];
  const whole = fullPath(text);
  if (whole !== undefined && statSync(whole, { throwIfNoEntry: false })) return [whole];
  const words = [...text.matchAll(WORD)].map(([, single, double, plain]) => single ?? double ?? plain?.replaceAll(/\\(.)/g, "$1") ?? "");
  const paths = words.map(fullPath);
  return paths.every((path) => path !== undefined) ? paths : [];
}

function fullPath(word: string): string | undefined {
  if (word.startsWith("/")) return word;
  if (word.startsWith("~/")) return `${homedir()}${word.slice(1)}`;
  return URL.canParse(word) && word.startsWith("file:///") ? fileURLToPath(word) : undefined;
}
