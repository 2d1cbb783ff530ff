import * as z from "zod";
import type { ImageBlock } from "../../protocol/message.ts";
import type { ToolResult } from "../../protocol/tool.ts";
import { imageSize, MAX_IMAGE_BYTES } from "./image.ts";
import { kindOf } from "./kind.ts";
import { type Page, pageOf } from "./page.ts";

const MAX_OUTPUT = 2_000;
const MAX_IMAGES = 4;

const text = z.union([z.string(), z.array(z.string()).transform((lines) => lines.join(""))]);
const output = z.object({
  output_type: z.string(),
  text: text.optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  ename: z.string().optional(),
  evalue: z.string().optional(),
});
const notebook = z.object({
  cells: z.array(
    z.object({ cell_type: z.string(), source: text, execution_count: z.number().nullish(), outputs: z.array(output).optional() }),
  ),
});
type Output = z.output<typeof output>;

/** Cells with their outputs; undefined where the file is no notebook of version 4, which is then read as the text it is. */
export function readNotebook(bytes: Buffer, page: Page): ToolResult | undefined {
  const parsed = notebook.safeParse(parseJson(bytes.toString("utf8")));
  if (!parsed.success) return undefined;
  const images: ImageBlock[] = [];
  const shown = parsed.data.cells.map((cell, index) => {
    const outputs = (cell.outputs ?? []).map((one) => `[output]\n${bounded(describe(one, images))}`);
    const count = cell.execution_count ? `, run ${cell.execution_count}` : "";
    return [`[cell ${index + 1}: ${cell.cell_type}${count}]`, cell.source, ...outputs].join("\n");
  });
  const note =
    '[a notebook, shown as cells: its file is JSON. EditFile works on that text, where a quote is \\" and a line ends in \\n"; see it with Bash]';
  return { content: [{ type: "text", text: `${pageOf(shown.join("\n"), page, "the notebook")}\n${note}` }, ...images] };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json.replace(/^\uFEFF/, ""));
  } catch {
    // Being written, or broken: shown as the text it is.
    return undefined;
  }
}

function describe(one: Output, images: ImageBlock[]): string {
  if (one.text !== undefined) return one.text;
  if (one.ename !== undefined) return `${one.ename}: ${one.evalue ?? ""}`;
  const parts = Object.entries(one.data ?? {});
  const image = parts.find(([type]) => /^image\/(png|jpeg|gif|webp)$/.test(type));
  if (image) return describeImage(image[0], image[1], images);
  const plain = text.safeParse(one.data?.["text/plain"] ?? one.data?.["text/markdown"]);
  return plain.success ? plain.data : `(${parts.map(([type]) => type).join(", ") || one.output_type})`;
}

function describeImage(type: string, data: unknown, images: ImageBlock[]): string {
  const base64 = text.safeParse(data);
  const bytes = Buffer.from(base64.success ? base64.data : "", "base64");
  const kind = kindOf(bytes);
  const canShow = kind?.type === "image" && imageSize(bytes, kind.mediaType) !== undefined && bytes.length <= MAX_IMAGE_BYTES;
  if (!canShow || images.length >= MAX_IMAGES) return `(${type}, ${bytes.length} bytes, not shown)`;
  images.push({ type: "image", mediaType: kind.mediaType, data: bytes.toString("base64") });
  return `(${type}, image ${images.length} below)`;
}

function bounded(shown: string): string {
  if (shown.length <= MAX_OUTPUT) return shown.trimEnd();
  return `${shown.slice(0, MAX_OUTPUT)}\n[… output cut … it has ${shown.length} characters]`;
}
