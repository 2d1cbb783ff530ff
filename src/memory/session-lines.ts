import { closeSync, openSync, readSync } from "node:fs";

/** `bytes` are the line without its newline, and hold until the next line is asked for. `start` is its place in the file; `number` counts from where reading began. */
export type Line = { bytes: Buffer; start: number; number: number };

const CHUNK = 1 << 20;

/** The lines of a file one after another, from its beginning or from the start of a line; never more than one of them in memory. */
export function* sessionLines(path: string, from = 0, chunk = CHUNK): Generator<Line> {
  const fd = openSync(path, "r");
  try {
    let buffer = Buffer.allocUnsafe(chunk);
    // What is read and not yet given out lies between the two.
    let begin = 0;
    let end = 0;
    let start = from;
    let number = 1;
    for (;;) {
      if (begin > 0) buffer.copyWithin(0, begin, end);
      end -= begin;
      begin = 0;
      if (end === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      const got = readSync(fd, buffer, end, buffer.length - end, start + end);
      const searchFrom = end;
      end += got;
      let newline = buffer.subarray(0, end).indexOf(0x0a, searchFrom);
      while (newline >= 0) {
        yield { bytes: buffer.subarray(begin, newline), start, number };
        start += newline + 1 - begin;
        number += 1;
        begin = newline + 1;
        newline = buffer.subarray(0, end).indexOf(0x0a, begin);
      }
      if (got > 0) continue;
      if (end > begin) yield { bytes: buffer.subarray(begin, end), start, number };
      return;
    }
  } finally {
    closeSync(fd);
  }
}
