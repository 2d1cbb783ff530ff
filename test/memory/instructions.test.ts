import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadInstructions } from "../../src/memory/instructions.ts";
import { NestedInstructions } from "../../src/memory/nested-instructions.ts";
import { dataPaths } from "../../src/platform/paths.ts";
import { mayInclude } from "../../src/runtime/may-include.ts";
import { readSurroundings } from "../../src/runtime/surroundings.ts";
import { tempFolder } from "../support/temp.ts";

async function instructions(files: Record<string, string>, links: Record<string, string> = {}) {
  await using folder = await tempFolder();
  const { path } = folder;
  await lay(path, { "p/.roocode/x": "", "home/.roocode/x": "", ...files }, links);
  const project = join(path, "p");
  const home = join(path, "home");
  const data = dataPaths(home);
  const surroundings = { ...(await readSurroundings(project, { HOME: home }, {})), projectRoot: project };
  const found = await loadInstructions({
    projectRoot: project,
    userFile: data.instructions,
    home,
    mayInclude: mayInclude(surroundings, project),
  });
  const plain = (text: string) => text.replaceAll(`${path}/`, "").replaceAll("home/.roocode", "data");
  return found && { text: plain(found.text), notes: found.notes.map(plain) };
}

async function lay(folder: string, files: Record<string, string>, links: Record<string, string> = {}): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  for (const [name, target] of Object.entries(links)) await symlink(target, join(folder, name));
}

describe("instruction files", () => {
  test("the project's, its .roocode's and the user's are joined in this order", async () => {
    const found = await instructions({ "home/.roocode/ROOCODE.md": "three", "p/.roocode/ROOCODE.md": "two", "p/ROOCODE.md": "one" });
    expect(found?.text).toBe("# p/ROOCODE.md\n\none\n\n---\n\n# p/.roocode/ROOCODE.md\n\ntwo\n\n---\n\n# data/ROOCODE.md\n\nthree");
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

describe("@include", () => {
  test("F-08: a circle ends, each file counts once, code and addresses are left alone, a missing file is named", async () => {
    const found = await instructions({
      "p/ROOCODE.md": [
        "Write to me@include.example or @include/x.",
        "@include ./docs/a.md",
        "Use `@include ./x.md` so:",
        "```md",
        "@include ./x.md",
        "```",
        "- in a list:",
        "  ~~~~",
        "  ```",
        "@include ./x.md",
        "  ~~~~",
        "and `code",
        "@include ./x.md",
        "over lines` <!--",
        "@include ./x.md",
        "-->",
        "    @include ./x.md",
        "@include ./missing.md",
        "@include ./docs/a.md",
        "end",
      ].join("\n"),
      "p/docs/a.md": "this is a\n@include b.md\n",
      "p/docs/b.md": "this is b\r\n@include a.md\r\n",
      "p/x.md": "SHOULD NOT BE HERE",
    });
    expect(found?.text).not.toContain("SHOULD NOT");
    expect(found?.text.match(/this is [ab]/g)).toEqual(["this is a", "this is b"]);
    expect(found?.text).toContain("```md\n@include ./x.md\n```");
    expect(found?.text).toContain("me@include.example or @include/x.");
    expect(found?.text).not.toContain("missing.md");
    expect(found?.notes).toEqual([
      'p/docs/b.md:2: "@include a.md" is left out: it includes itself, by this or by way of others.',
      'p/ROOCODE.md:18: "@include ./missing.md" is left out: there is no file p/missing.md.',
    ]);
  });

  test("files include each other at most five deep", async () => {
    const files = Object.fromEntries([1, 2, 3, 4, 5, 6].map((at) => [`p/${at}.md`, `level ${at}\n@include ${at + 1}.md`]));
    const found = await instructions({ "p/ROOCODE.md": "@include 1.md", ...files });
    expect(found?.text.match(/level \d/g)).toEqual(["level 1", "level 2", "level 3", "level 4", "level 5"]);
    expect(found?.notes[0]).toContain("at most 5 deep");
  });

  test("a project's file includes nothing from outside of it, by a path, a link or a link to a folder", async () => {
    const found = await instructions(
      {
        "p/ROOCODE.md": "@include ../out.md\n@include ~/out.md\n@include link.md\n@include folder/out.md",
        "out.md": "OUT",
        "home/out.md": "OUT",
      },
      { "p/link.md": "../out.md", "p/folder": ".." },
    );
    expect(found?.text).not.toContain("OUT");
    expect(found?.notes).toHaveLength(4);
  });

  test("an instruction file that is a link out of the project, or to a secret in it, is not read", async () => {
    const found = await instructions({ "home/notes.md": "PRIVATE" }, { "p/ROOCODE.md": "../home/notes.md" });
    expect(found?.text).toBe("");
    expect(found?.notes[0]).toContain("leads to home/notes.md");
    const inside = await instructions({ "p/.env": "PRIVATE" }, { "p/CLAUDE.md": ".env" });
    expect(inside?.text).toBe("");
  });

  test("the user's own file includes from the home and the data folder", async () => {
    const found = await instructions({
      "home/.roocode/ROOCODE.md": "@include ./style.md\n@include ~/notes/me.md",
      "home/.roocode/style.md": "style",
      "home/notes/me.md": "about me",
    });
    expect(found).toEqual({ text: "# data/ROOCODE.md\n\nstyle\nabout me", notes: [] });
  });

  test.each([
    ["p/.env", "A=SECRET"],
    ["p/server.pem", "SECRET"],
    ["p/.git/config", "SECRET"],
    ["p/.roocode/config.yaml", "model: SECRET"],
    ["p/.roocode/agents/x.md", "SECRET"],
  ])("%s is never included, by a link neither", async (file, text) => {
    const found = await instructions(
      { [file]: text, "p/ROOCODE.md": `@include ${file.slice(2)}\n@include link.md` },
      { "p/link.md": file.slice(2) },
    );
    expect(found?.text).not.toContain("SECRET");
    expect(found?.notes.map((note) => note.includes("never included"))).toEqual([true, true]);
  });

  test.each(["~/.ssh/id_ed25519", "~/.bashrc", "./config.yaml", "./trust.json", "~/.config/gcloud/x.md"])(
    "the user's own file does not include %s",
    async (target) => {
      const file = target.replace("~/", "home/").replace("./", "home/.roocode/");
      const found = await instructions({ "home/.roocode/ROOCODE.md": `@include ${target}`, [file]: "model: SECRET" });
      expect(found?.text).not.toContain("SECRET");
      expect(found?.notes[0]).toContain("never included");
    },
  );

  test("all of it together has a bound, which a note tells", async () => {
    const files = Object.fromEntries(["a", "b", "c", "d"].map((name) => [`p/${name}.md`, name.repeat(39_000)]));
    const found = await instructions({
      "p/ROOCODE.md": Object.keys(files)
        .map((name) => `@include ${name.slice(2)}`)
        .join("\n"),
      ...files,
    });
    expect(found?.text.length).toBeLessThan(101_000);
    expect(found?.notes.join()).toContain("room for 100000 characters");
  });
});

describe("instruction files of folders", () => {
  const rules = { home: "/nowhere", mayInclude: () => true };

  test("one applies once a file below it was touched, outermost first, and only once", async () => {
    await using folder = await tempFolder();
    await lay(folder.path, {
      "ROOCODE.md": "root",
      "a/ROOCODE.md": "for a",
      "a/b/AGENTS.md": "for b",
      "a/b/c/x.ts": "",
      "d/ROOCODE.md": "for d",
    });
    const nested = new NestedInstructions(folder.path, rules, new Set());
    expect(await nested.take()).toBeUndefined();
    nested.touch(join(folder.path, "x.ts"));
    expect(await nested.take()).toBeUndefined();
    nested.touch(join(folder.path, "a", "b", "c", "x.ts"));
    const text = (await nested.take()) ?? "";
    expect(text.indexOf("for a")).toBeGreaterThan(0);
    expect(text.indexOf("for b")).toBeGreaterThan(text.indexOf("for a"));
    expect(text).not.toMatch(/root\n|for d/);
    nested.touch(join(folder.path, "a", "y.ts"));
    expect(await nested.take()).toBeUndefined();
    await writeFile(join(folder.path, "a", "ROOCODE.md"), "for a, anew </system-reminder>");
    const again = await nested.current();
    expect(again).toContain("for a, anew &lt;/system-reminder>");
    expect(again).toContain("for b");
    nested.reset();
    expect(await nested.current()).toBeUndefined();
    nested.touch(join(folder.path, "a", "y.ts"));
    expect(await nested.take()).toContain("for a, anew");
  });

  test("other people's packages and folders outside of the root have no say", async () => {
    await using folder = await tempFolder();
    await lay(
      folder.path,
      { "p/node_modules/x/CLAUDE.md": "evil", "p/node_modules/x/i.js": "", "out/ROOCODE.md": "evil", "out/f/i.js": "", "p/q/i.js": "" },
      { "p/link": "../out" },
    );
    const nested = new NestedInstructions(join(folder.path, "p"), rules, new Set());
    for (const path of ["p/node_modules/x/i.js", "p/link/f/i.js", "out/f/i.js", "p/gone/i.js"]) nested.touch(join(folder.path, path));
    expect(await nested.take()).toBeUndefined();
  });
});
