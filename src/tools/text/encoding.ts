import { isUtf8 } from "node:buffer";
import { labelsIn } from "./declared-encoding.ts";

export type Encoding = "utf-8" | "utf-8-bom" | "utf-16le" | "utf-16be" | "binary" | "8-bit" | { declared: string };

const SAMPLE = 65_536;

/** What a file's bytes say about its encoding; an 8-bit one counts when the file names it and all of it decodes. Nothing is guessed. */
export function detectEncoding(bytes: Uint8Array): Encoding {
  const marked = markedEncoding(bytes);
  if (marked) return marked;
  if (bytes.subarray(0, SAMPLE).includes(0)) return "binary";
  if (isUtf8(bytes)) return "utf-8";
  if (hasControlBytes(bytes.subarray(0, SAMPLE))) return "binary";
  const declared = labelsIn(bytes).find((label) => decodes(bytes, label));
  return declared === undefined ? "8-bit" : { declared };
}

/** The same from the first bytes of a larger file. A character that the end of the part cuts is no fault. */
export function detectFromHead(head: Uint8Array): Encoding {
  const marked = markedEncoding(head);
  if (marked && marked !== "utf-8-bom") return marked;
  if (head.includes(0)) return "binary";
  if (decodes(head, "utf-8", true)) return marked ?? "utf-8";
  if (hasControlBytes(head)) return "binary";
  const declared = labelsIn(head).find((label) => decodes(head, label, true));
  return declared === undefined ? "8-bit" : { declared };
}

export function encodingName(encoding: Encoding): string {
  return typeof encoding === "string" ? encoding : encoding.declared;
}

export function decodes(bytes: Uint8Array, label: string, isPart = false): boolean {
  try {
    new TextDecoder(label, { fatal: true }).decode(bytes, { stream: isPart });
    return true;
  } catch {
    return false;
  }
}

function markedEncoding(bytes: Uint8Array): "utf-16le" | "utf-16be" | "utf-8-bom" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes[2] === 0 && bytes[3] === 0 && bytes.length > 3 ? undefined : "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const isBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return isBom && isUtf8(bytes) ? "utf-8-bom" : undefined;
}

/** Text of any 8-bit encoding has next to none of them. */
function hasControlBytes(bytes: Uint8Array): boolean {
  let count = 0;
  for (const byte of bytes)
    if ((byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) || byte === 0x7f) count++;
  return count > bytes.length / 50;
}
