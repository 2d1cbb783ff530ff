import { expect, test, vi } from "vitest";
import { reportError } from "../../src/interaction/report-error.ts";

test.each([
  ["EROFS", "open", "roocode: /data/roster/9.json can't be used: the file system is read-only (open)."],
  ["EACCES", "scandir", "roocode: /data/roster/9.json can't be used: permission denied (scandir)."],
  ["ENOENT", "mkdir", "roocode: The folder /data/roster/9.json can't be made: nothing can be written there."],
])("a right that is missing (%s in %s) is one line, and no bug that is logged", async (code, syscall, words) => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    const error = Object.assign(new Error(`${code}: no, ${syscall} '/data/roster/9.json'`), { code, syscall, path: "/data/roster/9.json" });
    expect(await reportError(error, false)).toBe(1);
    expect(written.mock.calls.map(([text]) => text)).toEqual([`${words} Use an account that may, or change the rights.\n`]);
  } finally {
    written.mockRestore();
  }
});
