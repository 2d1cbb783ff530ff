import { expect, test } from "vitest";
import { ShellOutput } from "../../src/tools/shell-output.ts";

test("a full disk costs the middle of a long output, not the command", () => {
  // Every write to this device says that no space is left.
  const output = new ShellOutput("/dev/full");
  for (let line = 0; line < 5_000; line += 1) output.add(`line ${line} of the output\n`);
  const text = output.finish();
  expect(text).toMatch(/^line 0 of/);
  expect(text).toContain("line 4999 of the output");
  expect(text).toMatch(/characters left out; the whole could not be saved \(ENOSPC/);
});
