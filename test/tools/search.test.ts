import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { resultText } from "../../src/protocol/tool.ts";
import { globTool } from "../../src/tools/builtin/glob.ts";
import { grepTool } from "../../src/tools/builtin/grep.ts";
import { tempFolder } from "../support/temp.ts";

const TREE = {
  "src/a.ts": "alpha\nbeta\n",
  "src/deep/b.ts": "Alpha\n",
  "top.ts": "gamma alpha\n",
  "ignored.log": "alpha\n",
  ".gitignore": "*.log\n",
  ".hidden.ts": "alpha\n",
};

async function tree() {
  const folder = await tempFolder();
  let second = 1_000;
  for (const [name, text] of Object.entries(TREE)) {
    const path = join(folder.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    second += 10;
    await utimes(path, second, second);
  }
  return folder;
}

const context = (cwd: string) => ({ cwd, callId: "c", signal: new AbortController().signal, progress: () => undefined });
afterEach(() => {
  delete process.env.ROOCODE_RIPGREP;
});

describe.each(["ripgrep", "walker"])("with the %s", (kind) => {
  const use = () => {
    if (kind === "walker") process.env.ROOCODE_RIPGREP = "off";
  };
  test("Glob finds files newest first and leaves out what .gitignore names", async () => {
    use();
    await using folder = await tree();
    const glob = globTool();
    expect(resultText(await glob.run(glob.parse({ pattern: "**/*.ts" }), context(folder.path)))).toBe(
      ".hidden.ts\ntop.ts\nsrc/deep/b.ts\nsrc/a.ts",
    );
    expect(resultText(await glob.run(glob.parse({ pattern: "*.ts" }), context(folder.path)))).toBe(".hidden.ts\ntop.ts");
    expect(resultText(await glob.run(glob.parse({ pattern: "src/*.{ts,js}" }), context(folder.path)))).toBe("src/a.ts");
  });
  test("Grep gives path, line and text; other outputs give files or counts", async () => {
    use();
    await using folder = await tree();
    const grep = grepTool();
    const found = async (input: object) => resultText(await grep.run(grep.parse(input), context(folder.path)));
    expect(await found({ pattern: "alpha" })).toBe(".hidden.ts:1:alpha\nsrc/a.ts:1:alpha\ntop.ts:1:gamma alpha");
    expect(await found({ pattern: "alpha", ignore_case: true, path: "src" })).toBe("src/a.ts:1:alpha\nsrc/deep/b.ts:1:Alpha");
    expect(await found({ pattern: "alpha", output: "files", glob: "*.ts", path: "src" })).toBe("src/a.ts");
    expect(await found({ pattern: "a", output: "count", path: "src/a.ts" })).toBe("src/a.ts:2");
    expect(await found({ pattern: "nothing-like-it" })).toBe("No matches.");
  });
});
