import { TextDecoder } from "node:util";

/** The bytes as text: by the byte order mark, the header, what the page says of itself, else UTF-8. */
export function pageText({ body, contentType }: { body: Buffer; contentType: string }): string {
  const named = /charset\s*=\s*["']?([\w.:-]+)/i;
  const start = body.subarray(0, 2_048).toString("latin1");
  const mark = body[0] === 0xff && body[1] === 0xfe ? "utf-16le" : body[0] === 0xfe && body[1] === 0xff ? "utf-16be" : undefined;
  const inPage =
    /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start) ?? /^<\?xml[^>]{0,200}?encoding=["']([\w.:-]+)/i.exec(start);
  const name = mark ?? named.exec(contentType)?.[1] ?? inPage?.[1] ?? "utf-8";
  return decoder(name).decode(body);
}

function decoder(name: string): TextDecoder {
  try {
    return new TextDecoder(name);
  } catch (error) {
    // A charset that nobody knows is most often a misspelling of the usual one.
    if (error instanceof RangeError) return new TextDecoder();
    throw error;
  }
}
