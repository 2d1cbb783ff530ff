import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChangedFileError, replaceFile } from "../../src/platform/open-checked.ts";
import { tempFolder } from "../support/temp.ts";

test("a file that changed between the look at it and the writing, or that came to be meanwhile, is left as it is", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "f");
  await writeFile(path, "looked at");
  const before = await stat(path, { bigint: true });
  await writeFile(path, "somebody else's");
  await expect(replaceFile(path, Buffer.from("ours"), { mode: 0o644, before })).rejects.toThrow(ChangedFileError);
  await expect(replaceFile(path, Buffer.from("ours"), { mode: 0o644, before: undefined })).rejects.toThrow(ChangedFileError);
  expect(await readFile(path, "utf8")).toBe("somebody else's");
  expect(await readdir(folder.path)).toEqual(["f"]);
});
