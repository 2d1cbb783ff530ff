import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadInstructions } from "../../src/memory/instructions.ts";
import { tempFolder } from "../support/temp.ts";

async function instructions(files: Record<string, string>, links: Record<string, string> = {}) {
  await using folder = await tempFolder();
  await mkdir(join(folder.path, "p", ".roocode"), { recursive: true });
  await mkdir(join(folder.path, "home"), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  for (const [name, target] of Object.entries(links)) await symlink(target, join(folder.path, name));
  const found = await loadInstructions(join(folder.path, "p"), join(folder.path, "home", "ROOCODE.md"));
  return found && { ...found, text: found.text.replaceAll(`${folder.path}/`, "") };
}

describe("instruction files", () => {
  test("the project's, its .roocode's and the user's are joined in this order", async () => {
    const found = await instructions({ "home/ROOCODE.md": "three", "p/.roocode/ROOCODE.md": "two", "p/ROOCODE.md": "one" });
    expect(found?.text).toBe("# p/ROOCODE.md\n\none\n\n---\n\n# p/.roocode/ROOCODE.md\n\ntwo\n\n---\n\n# home/ROOCODE.md\n\nthree");
  });
  test("AGENTS.md and CLAUDE.md count where no ROOCODE.md stands beside them, a link to the other once", async () => {
    expect((await instructions({ "p/AGENTS.md": "a", "p/CLAUDE.md": "c" }))?.text).toContain(
      "# p/AGENTS.md\n\na\n\n---\n\n# p/CLAUDE.md\n\nc",
    );
    expect((await instructions({ "p/AGENTS.md": "a" }, { "p/CLAUDE.md": "AGENTS.md" }))?.text).toBe("# p/AGENTS.md\n\na");
    expect((await instructions({ "p/ROOCODE.md": "r", "p/CLAUDE.md": "c" }))?.text).toBe("# p/ROOCODE.md\n\nr");
  });
  test("there may be none, and a huge one is cut with a note", async () => {
    expect(await instructions({})).toBeUndefined();
    const found = await instructions({ "p/ROOCODE.md": "x".repeat(100_000) });
    expect(found?.text.length).toBeLessThan(41_000);
    expect(found?.notes[0]).toContain("100000 characters");
  });
});
