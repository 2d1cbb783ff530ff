import { link, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { resultText, type Tool } from "../../src/protocol/tool.ts";
import { createMayShow } from "../../src/safety/authorize.ts";
import { decide } from "../../src/safety/decide.ts";
import { DISK } from "../../src/safety/path-sandbox.ts";
import { ruleSet } from "../../src/safety/rules.ts";
import { editFileTool } from "../../src/tools/builtin/edit-file.ts";
import { globTool } from "../../src/tools/builtin/glob.ts";
import { grepTool } from "../../src/tools/builtin/grep.ts";
import { readFileTool } from "../../src/tools/builtin/read-file.ts";
import { writeFileTool } from "../../src/tools/builtin/write-file.ts";
import { FileState } from "../../src/tools/file-state.ts";
import { tempFolder } from "../support/temp.ts";

type Operation = { op: "dir" | "file" | "symlink" | "hardlink" | "remove"; path: string; text?: string; to?: string };
type Entry = {
  id: string;
  setup: Operation[];
  tool: string;
  path: string;
  pattern?: string;
  race?: { afterCheck: Operation[] };
  after?: { unchanged?: string[]; absent?: string[]; noText?: string[]; noMatchFrom?: string[] };
};

const entries: Entry[] = (await readFile("test/fixtures/security/paths.jsonl", "utf8"))
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line))
  .filter((entry: Entry) => entry.race || entry.after);

async function apply(operations: readonly Operation[], top: string): Promise<void> {
  for (const { op, path, text = "", to = "" } of operations) {
    const target = join(top, path);
    await mkdir(dirname(target), { recursive: true });
    if (op === "dir") await mkdir(target, { recursive: true });
    else if (op === "file") await writeFile(target, text);
    else if (op === "symlink") await symlink(to.replaceAll("${T}", top), target);
    else if (op === "hardlink") await link(join(top, to), target);
    else await rm(target, { recursive: true, force: true });
  }
}

async function place() {
  const temp = await tempFolder("race");
  const [root, home] = [join(temp.path, "home", "proj"), join(temp.path, "home")];
  await mkdir(root, { recursive: true });
  const state = new FileState();
  const mayShow = createMayShow("test", {
    ...{ root, cwd: root, home, dataFolder: join(home, ".roocode"), extraRoots: [], isTrusted: true },
    mode: () => "bypassPermissions",
    rules: () => ruleSet({ project: ["deny Read(hidden/**)"] }),
  });
  const all = [readFileTool(state), writeFileTool(state), editFileTool(state), grepTool(mayShow), globTool(mayShow)];
  const tools = new Map<string, Tool>(all.map((tool) => [tool.name, tool]));
  return { top: temp.path, root, home, state, tools, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

type Place = Awaited<ReturnType<typeof place>>;

/** Decides, lets the disk change, then runs the tool with what was decided: its text, or that of its error. */
async function act({ tools, root, home }: Place, name: string, input: object, meanwhile: () => Promise<void> = async () => undefined) {
  const tool = tools.get(name);
  if (!tool) throw new Error(name);
  const parsed = tool.parse(input);
  const ground = { root, cwd: root, home, dataFolder: join(home, ".roocode"), extraRoots: [], files: DISK };
  const context = { ground, mode: "bypassPermissions" as const, rules: ruleSet({}), isTrusted: true, gitIsSafe: () => true };
  const decision = await decide({ agent: "test", tool: name, access: tool.access(parsed) }, context);
  await meanwhile();
  if (decision.decision === "deny") return `denied ${decision.reason}`;
  const run = { cwd: root, callId: "c", signal: new AbortController().signal, progress: () => undefined, resolved: decision.resolved };
  return tool.run(parsed, run).then(resultText, (error: Error) => `failed ${error.message}`);
}

test.each(entries)("$id holds on the disk: what changes between decision and run is not followed", async (entry) => {
  await using at = await place();
  await apply(entry.setup, at.top);
  const kept = await Promise.all((entry.after?.unchanged ?? []).map((path) => readFile(join(at.top, path), "utf8")));
  if (entry.tool === "WriteFile") await act(at, "ReadFile", { path: entry.path });
  const input = { path: entry.path.replaceAll("${T}", at.top), content: "changed", pattern: entry.pattern ?? "x" };
  const text = await act(at, entry.tool, input, () => apply(entry.race?.afterCheck ?? [], at.top));
  for (const [index, path] of (entry.after?.unchanged ?? []).entries())
    expect(await readFile(join(at.top, path), "utf8")).toBe(kept[index]);
  for (const path of entry.after?.absent ?? [])
    await expect(readFile(join(at.top, path))).rejects.toMatchObject({ code: /ENOENT|ENOTDIR/ });
  for (const words of entry.after?.noText ?? []) expect(text).not.toContain(words);
  if (entry.after?.noMatchFrom) expect(text).toBe("No matches.");
  if (entry.race) expect(text).toMatch(/^failed .*leads elsewhere/);
});

test("a read, an edit and both searches refuse a file or a folder that became a link after the decision", async () => {
  await using at = await place();
  await apply([{ op: "file", path: "home/secret/a.ts", text: "SECRET" }], at.top);
  const reset = () =>
    apply(
      [
        { op: "remove", path: "home/proj/d" },
        { op: "file", path: "home/proj/d/a.ts", text: "plain" },
      ],
      at.top,
    );
  const swapFolder = () =>
    apply(
      [
        { op: "remove", path: "home/proj/d" },
        { op: "symlink", path: "home/proj/d", to: "../secret" },
      ],
      at.top,
    );
  const swapFile = () =>
    apply(
      [
        { op: "remove", path: "home/proj/d/a.ts" },
        { op: "symlink", path: "home/proj/d/a.ts", to: "../../secret/a.ts" },
      ],
      at.top,
    );
  for (const swap of [swapFolder, swapFile]) {
    for (const [name, input] of [
      ["ReadFile", { path: "d/a.ts" }],
      ["EditFile", { path: "d/a.ts", old_string: "SECRET", new_string: "x" }],
      ["Grep", { path: "d/a.ts", pattern: "SECRET" }],
      ...(swap === swapFolder
        ? ([
            ["Grep", { path: "d", pattern: "SECRET" }],
            ["Glob", { path: "d", pattern: "**" }],
          ] as const)
        : []),
    ] as const) {
      await reset();
      expect(await act(at, name, input, swap), name).toContain("leads elsewhere");
    }
  }
  expect(await readFile(join(at.home, "secret", "a.ts"), "utf8")).toBe("SECRET");
});

test.each(["ripgrep", "walker"])(
  "with the %s a search of a folder leaves out what may not be read: a deny rule, .env, links to the outside",
  async (kind) => {
    if (kind === "walker") process.env.ROOCODE_RIPGREP = "off";
    try {
      await using at = await place();
      await apply(
        [
          { op: "file", path: "home/proj/hidden/k.txt", text: "SECRET" },
          { op: "file", path: "home/proj/.env", text: "SECRET" },
          { op: "file", path: "home/proj/open.txt", text: "SECRET" },
          { op: "file", path: "home/other/s.txt", text: "SECRET" },
          { op: "symlink", path: "home/proj/link", to: "../other" },
        ],
        at.top,
      );
      const left = "[2 files are left out: reading them is denied, or needs a person's word]";
      expect(await act(at, "Grep", { pattern: "SECRET" })).toBe(`open.txt:1:SECRET\n${left}`);
      expect(await act(at, "Glob", { pattern: "**" })).toBe(`open.txt\n${left}`);
      expect(await readdir(at.root)).toContain(".env");
    } finally {
      delete process.env.ROOCODE_RIPGREP;
    }
  },
);
