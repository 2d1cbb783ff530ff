export type Encoding = "utf-8" | "utf-8-bom" | "utf-16le" | "utf-16be" | "binary" | "8-bit";

/** What a file's first bytes (and the rest, when given whole) say about its encoding. Nothing is guessed beyond that. */
export function detectEncoding(bytes: Uint8Array, whole: boolean): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  if (bytes.subarray(0, 8192).includes(0)) return "binary";
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  try {
    // A character that the end of a part cuts is no fault.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !whole });
    return bom ? "utf-8-bom" : "utf-8";
  } catch {
    return "8-bit";
  }
}

/** Bytes as a string of one character each: searching and splicing keep every byte that is not touched. */
export function toByteString(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

export function fromByteString(bytes: string): Buffer {
  return Buffer.from(bytes, "latin1");
}
