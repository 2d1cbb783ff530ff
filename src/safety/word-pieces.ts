import { NOTHING, type Part, type Word } from "./command-line.ts";

export type Piece = {
  text: string;
  isKnown: boolean;
  isQuoted: boolean;
  isSplit: boolean;
  hasGlob: boolean;
  isUnsafe: boolean;
  runs: readonly Part[];
};

export function quoted(text: string): Piece {
  return { text, isKnown: true, isQuoted: true, isSplit: false, hasGlob: false, isUnsafe: false, runs: [] };
}

export function bare(text: string, source: string): Piece {
  return { ...quoted(text), isQuoted: source.includes("\\"), hasGlob: text === source && /[*?]|\[.*\]/.test(text) };
}

export function unknownWord(text: string): Word {
  return { ...NOTHING, text, isKnown: false, isQuoted: false };
}

export function prefixLength(source: string): number {
  return /^~[\w.+-]*/.exec(source)?.[0].length ?? 0;
}

/** All pieces as one word: what an assignment or a redirect makes of them. */
export function join(pieces: readonly Piece[], source: string): Word {
  const isKnown = pieces.every((piece) => piece.isKnown);
  return {
    text: pieces.length > 0 ? pieces.map((piece) => piece.text).join("") : source,
    isKnown,
    hasGlob: pieces.some((piece) => piece.hasGlob),
    isUnsafe: pieces.some((piece) => piece.isUnsafe),
    isQuoted: pieces.some((piece) => piece.isQuoted),
    runs: pieces.flatMap((piece) => piece.runs),
  };
}

/** Fields: known text that came out of an unquoted expansion is cut at its blanks. */
export function split(pieces: readonly Piece[], source: string): Word[] {
  if (!pieces.some((piece) => piece.isSplit)) return [join(pieces, source)];
  const fields: Piece[][] = [[]];
  for (const piece of pieces) {
    if (!piece.isSplit) {
      fields.at(-1)?.push(piece);
      continue;
    }
    for (const [index, chunk] of piece.text.split(/[ \t\n]+/).entries()) {
      if (index > 0) fields.push([]);
      if (chunk !== "") fields.at(-1)?.push({ ...piece, text: chunk, isSplit: false });
    }
  }
  return fields.filter((field) => field.some((piece) => piece.text !== "" || piece.isQuoted)).map((field) => join(field, source));
}
