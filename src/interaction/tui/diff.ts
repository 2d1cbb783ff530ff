import { wrap } from "./clip.ts";
import type { Theme } from "./theme.ts";

/** The lines of a unified diff without the head that names the files. */
export function diffBody(patch: string): string[] {
  return patch
    .trimEnd()
    .split("\n")
    .filter((line) => !/^(Index: |={10,}|--- |\+\+\+ |diff |index |\\ No newline )/.test(line));
}

export function diffLines(body: string, width: number, theme: Theme): string[] {
  return body.split("\n").flatMap((line) => wrap(line, width, "    ").map(paintOf(line, theme)));
}

function paintOf(line: string, theme: Theme): (text: string) => string {
  if (line.startsWith("+")) return theme.good;
  if (line.startsWith("-")) return theme.bad;
  return theme.dim;
}
