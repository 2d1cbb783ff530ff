import { expect, test } from "vitest";
import type { TeamTask } from "../../src/protocol/team.ts";
import { stallText } from "../../src/team/stall.ts";

function task(id: string, ...blockedBy: string[]): TeamTask {
  return { id, revision: 1, subject: id, description: "", status: "pending", blockedBy, attempts: 1 };
}

test("a circle that a killed writer left behind is named, and comes to an end", () => {
  const text = stallText([task("1", "2"), task("2", "1"), task("3", "1")], []);
  expect(text).toContain("1 waits for 2, which waits for 1: a circle (cancel one of them");
  expect(text).toContain("3 waits for 1, which waits for 2, which waits for 1: a circle");
});
