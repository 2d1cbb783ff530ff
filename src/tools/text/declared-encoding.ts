/** Where files say it: XML and HTML heads, `coding:` of Python and Emacs, `fileencoding=` of Vim, `@charset` of CSS. */
const DECLARATION = /(?:encoding|charset|coding|fenc)["']?\s*[:= ]\s*["']?([a-z0-9][\w.:-]{1,30})/gi;
const HEAD = 2_048;

/** Encodings whose second bytes can be ASCII: there an ASCII byte may be half of a character. */
export const DOUBLE_BYTE = ["gb18030", "shift_jis", "big5", "euc-kr"] as const;

/** The 8-bit encodings that a file names in its head, as TextDecoder knows them. */
export function labelsIn(bytes: Uint8Array): string[] {
  const head = Buffer.from(bytes.subarray(0, HEAD)).toString("latin1");
  const labels = [...head.matchAll(DECLARATION)].flatMap(([, label = ""]) => canonical(label) ?? []);
  return [...new Set(labels)].filter((label) => !label.startsWith("utf-") && label !== "replacement");
}

function canonical(label: string): string | undefined {
  try {
    return new TextDecoder(label.replace(/-(unix|dos|mac)$/i, "")).encoding;
  } catch {
    return undefined;
  }
}

/**
 * Text in an 8-bit encoding, as one character a byte; undefined when it has a character that the encoding lacks. The system only
 * decodes, so the way back is a table of all sequences of one and two bytes.
 */
export function encoderFor(label: string): (text: string) => string | undefined {
  const decoder = new TextDecoder(label, { fatal: true });
  const bytesOf = new Map<string, string>();
  const learn = (...bytes: number[]) => {
    try {
      const text = decoder.decode(Uint8Array.from(bytes));
      if ([...text].length === 1 && !bytesOf.has(text)) bytesOf.set(text, String.fromCharCode(...bytes));
      return true;
    } catch {
      return false;
    }
  };
  for (let first = 0; first < 256; first++) {
    if (learn(first)) continue;
    for (let second = 0x30; second < 256; second++) learn(first, second);
  }
  return (text) => {
    let bytes = "";
    for (const character of text) {
      const found = bytesOf.get(character);
      if (found === undefined) return undefined;
      bytes += found;
    }
    return bytes;
  };
}
