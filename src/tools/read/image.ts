import type { FileHandle } from "node:fs/promises";
import { errorResult, type ToolResult } from "../../protocol/tool.ts";

/** A provider counts the base64 text against its 5 MB. */
export const MAX_IMAGE_BYTES = Math.floor((5 * 1024 * 1024 * 3) / 4);
const MAX_SIDE = 8_000;

export async function readImage(file: FileHandle, shown: string, mediaType: string): Promise<ToolResult> {
  const { size } = await file.stat();
  if (size > MAX_IMAGE_BYTES) return tooLarge(size, shown);
  return imageResult(await file.readFile(), mediaType, shown);
}

/** An image, or why a provider would refuse it. */
export function imageResult(bytes: Buffer, mediaType: string, shown: string): ToolResult {
  const size = bytes.length;
  if (size > MAX_IMAGE_BYTES) return tooLarge(size, shown);
  const sides = imageSize(bytes, mediaType);
  // A provider refuses a broken image, and would again with every later request that has it.
  if (!sides)
    return errorResult(`${shown} begins like an image (${mediaType}) of ${size} bytes, but is broken or cut off; it is not shown.`);
  if (Math.max(...sides) > MAX_SIDE)
    return errorResult(`${shown} is an image of ${sides.join("x")} pixels; at most ${MAX_SIDE} a side can be shown. ${smaller(shown)}`);
  return { content: [{ type: "image", mediaType, data: bytes.toString("base64") }] };
}

function tooLarge(size: number, shown: string): ToolResult {
  return errorResult(`${shown} is an image of ${size} bytes; at most ${MAX_IMAGE_BYTES} can be shown. ${smaller(shown)}`);
}

function smaller(shown: string): string {
  return `Make a smaller copy first, for example with Bash: convert "${shown}" -resize 2000x2000 smaller.png`;
}

/** Width and height; undefined where the file does not hold what its first bytes promise. */
export function imageSize(bytes: Buffer, mediaType: string): [number, number] | undefined {
  try {
    const sides = sizeBy(bytes, mediaType);
    return sides && sides[0] > 0 && sides[1] > 0 ? sides : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function sizeBy(bytes: Buffer, mediaType: string): [number, number] | undefined {
  switch (mediaType) {
    case "image/png":
      return bytes.includes("IEND", bytes.length - 64, "latin1") ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : undefined;
    case "image/gif":
      return [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
    case "image/jpeg":
      return jpegSize(bytes);
    default:
      return bytes.readUInt32LE(4) + 8 <= bytes.length ? webpSize(bytes) : undefined;
  }
}

/** From marker to marker up to the frame, which has the size. */
function jpegSize(bytes: Buffer): [number, number] | undefined {
  let at = 2;
  while (at + 9 < bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

function webpSize(bytes: Buffer): [number, number] | undefined {
  const chunk = bytes.toString("latin1", 12, 16);
  if (chunk === "VP8X") return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
  if (chunk === "VP8L") {
    const packed = bytes.readUInt32LE(21);
    return [(packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1];
  }
  return chunk === "VP8 " ? [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff] : undefined;
}
