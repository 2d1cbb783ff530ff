import { join } from "node:path";
import { expect, test } from "vitest";
import { appendLine } from "../../src/platform/files.ts";
import { followLog } from "../../src/team/team-log.ts";
import { eventually } from "../support/eventually.ts";
import { tempFolder } from "../support/temp.ts";

test("a line that comes right after another one is seen, though nothing comes after it", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "log.jsonl");
  const stop = new AbortController();
  const seen: string[] = [];
  const following = followLog(path, 0, (line) => seen.push(line), stop.signal);
  for (let number = 1; number <= 100; number++) {
    appendLine(path, number);
    await eventually(() => seen.length === number, 3000);
  }
  stop.abort();
  await following;
  expect(seen.at(-1)).toBe("100");
});
