import { expect, test } from "vitest";
import { sessionName } from "../../src/interaction/session-name.ts";

test("a session's name is one short line that acts on no terminal, or none", () => {
  expect(sessionName("  login\n\tbug \x1b[31mred\x1b[0m ")).toBe("login bug red");
  expect(sessionName("名".repeat(150))).toHaveLength(100);
  expect(sessionName(" \x1b[2J\n")).toBeUndefined();
});
