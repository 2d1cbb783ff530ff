import { expect, test } from "vitest";
import { Repaint } from "../../src/interaction/repaint.ts";

function painted(terminal: { isTTY?: boolean; columns?: number; rows?: number }, ...texts: string[]): string[] {
  const written: string[] = [];
  const screen = new Repaint(terminal, (text) => written.push(text));
  for (const text of texts) screen.show(text);
  return written;
}

test("a terminal is painted over the lines before, and not at all where nothing changed", () => {
  expect(painted({ isTTY: true, columns: 80, rows: 24 }, "a\nb", "a\nb", "c")).toEqual([
    "\ra\x1b[K\nb\x1b[K\n\x1b[J",
    "\x1b[2A\rc\x1b[K\n\x1b[J",
  ]);
});

test("lines are cut before they wrap, wide characters counted twice, and more lines than the terminal has are counted", () => {
  expect(painted({ isTTY: true, columns: 6, rows: 4 }, "abcdefgh\n漢字漢字\n3\n4\n5")).toEqual([
    "\rabcde\x1b[K\n漢字\x1b[K\n… 3 m\x1b[K\n\x1b[J",
  ]);
});

test("a pipe gets each text below the one before", () => {
  expect(painted({}, "a", "a", "b")).toEqual(["a\n", "\nb\n"]);
});
