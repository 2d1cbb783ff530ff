import { expect, test } from "vitest";
import { wrapWords } from "../../src/interaction/wrap-words.ts";

test("long lines break between words; a command, a long word and a short line stay as they are", () => {
  expect(wrapWords("src/limits.js was in conflict: both stay", 20)).toBe("src/limits.js was in\nconflict: both stay");
  const whole = "See it: git -C /tmp/x log --oneline\na-word-that-is-longer-than-the-screen\nshort";
  expect(wrapWords(whole, 20)).toBe(whole);
});
