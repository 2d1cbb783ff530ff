import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hunksOf, proposedDiffs } from "../../../src/interaction/acp/diffs.ts";
import { fileDiff } from "../../../src/tools/text/file-diff.ts";
import { tempFolder } from "../../support/temp.ts";

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index}`);
const call = (name: string, input: Record<string, unknown>) => ({ type: "tool_use", id: "c", name, input }) as const;
const hunks = async (before: string, after: string) => {
  const diff = await fileDiff("f", before, after);
  return diff.type === "diff" ? hunksOf(diff.patch, "/f") : [];
};

test("each hunk of a diff is the two texts that it stands for", async () => {
  const after = LINES.with(2, "second").with(25, "--- a sign that is none");
  const found = await hunks(LINES.join("\n"), after.join("\n"));
  expect(found).toHaveLength(2);
  expect(found[0]).toEqual({
    type: "diff",
    path: "/f",
    oldText: LINES.slice(0, 6).join("\n"),
    newText: after.slice(0, 6).join("\n"),
  });
  expect(found[1]?.newText).toContain("--- a sign that is none");
});

test("a new file has no old text, an emptied one no new text", async () => {
  expect(await hunks("", "a\nb\n")).toEqual([{ type: "diff", path: "/f", oldText: null, newText: "a\nb" }]);
  expect(await hunks("a\n", "")).toEqual([{ type: "diff", path: "/f", oldText: "a", newText: "" }]);
});

test("what a call would change is known before it runs: edits by their words, a file that is written anew by what it holds", async () => {
  await using folder = await tempFolder("roocode-acp");
  const path = join(folder.path, "f.txt");
  const write = call("WriteFile", { path: "f.txt", content: "new" });
  expect(await proposedDiffs(write, folder.path)).toEqual([{ type: "diff", path, oldText: null, newText: "new" }]);
  await writeFile(path, "old");
  expect(await proposedDiffs(write, folder.path)).toEqual([{ type: "diff", path, oldText: "old", newText: "new" }]);
  const edits = [
    { old_string: "o", new_string: "O" },
    { old_string: "d", new_string: "D" },
  ];
  expect(await proposedDiffs(call("EditFile", { path: "f.txt", edits }), folder.path)).toMatchObject([{ oldText: "o" }, { oldText: "d" }]);
  // A folder, and a file too large to be looked through, have no text to show.
  expect(await proposedDiffs(call("WriteFile", { path: ".", content: "x" }), folder.path)).toEqual([]);
  await writeFile(path, "x".repeat(300_000));
  expect(await proposedDiffs(write, folder.path)).toEqual([]);
  expect(await proposedDiffs(call("Bash", { command: "ls" }), folder.path)).toEqual([]);
});
