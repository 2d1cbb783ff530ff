import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { agentMemory, type MemoryScope, openMemories } from "../../src/runtime/agent-memory.ts";
import { readSurroundings } from "../../src/runtime/surroundings.ts";
import { readFileTool } from "../../src/tools/builtin/read-file.ts";
import { FileState } from "../../src/tools/file-state.ts";
import { tempFolder } from "../support/temp.ts";

const CONTEXT = { callId: "1", signal: new AbortController().signal, progress: () => undefined };

async function place(files: Record<string, string>) {
  const folder = await tempFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), text);
  }
  const cwd = join(folder.path, "p");
  const surroundings = { ...(await readSurroundings(cwd, { HOME: join(folder.path, "home") }, {})), root: cwd, projectRoot: cwd };
  const worktree = join(folder.path, "worktree");
  return { cwd, worktree, surroundings, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

describe("what an agent knows from before", () => {
  test("a conversation that begins anew gets the root's instructions, the memories and the folders' that apply so far", async () => {
    await using here = await place({
      "p/ROOCODE.md": "for all",
      "p/a/CLAUDE.md": "for a",
      "p/a/x.ts": "1",
      "p/b/CLAUDE.md": "for b",
      "home/.keep": "",
    });
    const memory = agentMemory(here.surroundings, here.cwd, true);
    await (await openMemories(here.surroundings)).remember({ type: "user", name: "Tabs", description: "Likes tabs", body: "Yes." });
    expect((await memory.opening()).blocks.map(({ text }) => text.split("\n")[1]?.slice(0, 12))).toEqual(["Instructions", "Memories: no"]);
    const [read] = memory.watched([readFileTool(new FileState())]);
    await read?.run({ path: "b/missing.ts" }, { ...CONTEXT, cwd: here.cwd });
    await read?.run({ path: "a/x.ts" }, { ...CONTEXT, cwd: here.cwd });
    const pending = memory.pending(async () => ({ reminder: "mail", mail: ["1"], steering: "faster" }));
    expect(await pending()).toEqual({
      reminder: expect.stringMatching(/^mail\n\n<system-reminder>[\s\S]*for a/),
      mail: ["1"],
      steering: "faster",
    });
    expect(await pending()).toEqual({ reminder: "mail", mail: ["1"], steering: "faster" });
    const all = (await memory.instructionReminders()).join("\n");
    expect([all.includes("for all"), all.includes("Likes tabs"), all.includes("for a\n"), all.includes("for b")]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test("a sub-agent begins with the memories that its definition wants", async () => {
    await using here = await place({ "p/.keep": "", "home/.keep": "" });
    const memories = await openMemories(here.surroundings);
    await memories.remember({ type: "user", name: "Tabs", description: "Likes tabs", body: "Yes." });
    await memories.remember({ type: "reference", name: "Board", description: "Where the board is", body: "Here." });
    const known = async (scope?: MemoryScope) => {
      const { blocks } = await agentMemory(here.surroundings, here.cwd, true, scope).opening();
      const text = blocks.map((block) => block.text).join("\n");
      return ["Likes tabs", "Where the board is"].filter((words) => text.includes(words));
    };
    expect(await known()).toEqual(["Likes tabs", "Where the board is"]);
    expect(await known("user")).toEqual(["Likes tabs"]);
    expect(await known("project")).toEqual(["Where the board is"]);
    expect(await known("none")).toEqual([]);
  });

  test("a teammate has the primary checkout's root instructions and those of folders from its own worktree", async () => {
    await using here = await place({
      "p/ROOCODE.md": "root of p",
      "p/a/ROOCODE.md": "a in p",
      "worktree/ROOCODE.md": "root of worktree",
      "worktree/a/ROOCODE.md": "a in worktree",
      "worktree/a/x.ts": "1",
      "home/.keep": "",
    });
    const memory = agentMemory(here.surroundings, here.worktree, true);
    const [read] = memory.watched([readFileTool(new FileState())]);
    await read?.run({ path: "a/x.ts" }, { ...CONTEXT, cwd: here.worktree });
    const all = `${(await memory.opening()).blocks[0]?.text} ${(await memory.pending(undefined)())?.reminder}`;
    expect(all.match(/root of \w+|a in \w+/g)).toEqual(["root of p", "a in worktree"]);
  });

  test("nothing there is nothing said", async () => {
    await using here = await place({ "p/x.ts": "", "home/.keep": "" });
    const memory = agentMemory(here.surroundings, here.cwd, true);
    expect(await memory.opening()).toEqual({ blocks: [], notes: [] });
    expect(await memory.instructionReminders()).toEqual([]);
    expect(await memory.pending(undefined)()).toBeUndefined();
  });
});
