import * as z from "zod";
import type { ImageBlock } from "../protocol/message.ts";

export type InputItem =
  | { type: "message"; text: string; images: readonly ImageBlock[] }
  /** Wants an answer, but is no message: `request` is what it asks for, `details` all that it says. */
  | { type: "control"; id: string; request: string; details: Readonly<Record<string, unknown>> }
  /** To a request of ours; without `response` it failed on the other side. */
  | { type: "answer"; id: string; response: unknown }
  | { type: "problem"; text: string };

const Block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), source: z.object({ type: z.literal("base64"), media_type: z.string(), data: z.string() }) }),
]);
const Line = z.discriminatedUnion("type", [
  z.object({ type: z.literal("user"), message: z.object({ role: z.literal("user"), content: z.union([z.string(), z.array(Block)]) }) }),
  z.object({ type: z.literal("control_request"), request_id: z.string(), request: z.looseObject({ subtype: z.string() }) }),
  z.object({ type: z.literal("control_response"), response: z.object({ request_id: z.string(), response: z.unknown().optional() }) }),
  // Nothing waits for these.
  z.object({ type: z.enum(["keep_alive", "control_cancel_request"]) }),
]);
const SHAPE = '{"type":"user","message":{"role":"user","content":"…"}}';

/** Messages as JSON lines. Blank lines are nothing, and a line that is no message spoils no other. */
export async function* readStreamInput(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<InputItem> {
  let number = 0;
  for await (const line of linesOf(chunks)) {
    number += 1;
    const item = line.trim() === "" ? undefined : itemOf(line, number);
    if (item) yield item;
  }
}

function itemOf(line: string, number: number): InputItem | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return {
      type: "problem",
      text: `Line ${number} of the input is no JSON: ${error instanceof Error ? error.message.slice(0, 200) : ""}`,
    };
  }
  const parsed = Line.safeParse(value);
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join(".");
    return { type: "problem", text: `Line ${number} of the input is no message${where ? ` ("${where}")` : ""}. A message is ${SHAPE}` };
  }
  const { data } = parsed;
  switch (data.type) {
    case "user":
      return messageOf(data.message.content, number);
    case "control_request":
      return { type: "control", id: data.request_id, request: data.request.subtype, details: data.request };
    case "control_response":
      return { type: "answer", id: data.response.request_id, response: data.response.response };
    case "keep_alive":
    case "control_cancel_request":
      return undefined;
  }
}

function messageOf(content: string | readonly z.output<typeof Block>[], number: number): InputItem {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
  const images = blocks.flatMap(({ type, ...block }): ImageBlock[] =>
    "source" in block ? [{ type: "image", mediaType: block.source.media_type, data: block.source.data }] : [],
  );
  if (text.trim() === "" && images.length === 0)
    return { type: "problem", text: `Line ${number} of the input is a message without words.` };
  return { type: "message", text, images };
}

/** LF alone ends a line: node:readline would end one at U+2028 too, which may stand inside of a JSON text. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end));
      yield Buffer.concat(parts).toString("utf8");
      parts = [];
      from = end + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (parts.length > 0) yield Buffer.concat(parts).toString("utf8");
}
