import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, stat, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Checkpoints } from "../../src/memory/checkpoints/checkpoints.ts";
import { SnapshotStore } from "../../src/memory/checkpoints/snapshot-store.ts";
import { exists } from "../../src/platform/files.ts";
import { gitText } from "../../src/platform/git.ts";
import type { SessionEntry } from "../../src/protocol/session.ts";
import { sampleRepository } from "../support/home.ts";
import { tempFolder } from "../support/temp.ts";

type Entry = Extract<SessionEntry, { type: "checkpoint" }>;

async function project(files: Readonly<Record<string, string>>, { isRepository = true } = {}) {
  const folder = await tempFolder("roocode-checkpoints");
  const root = join(folder.path, "repo");
  if (isRepository) await sampleRepository(root, files);
  else {
    await mkdir(root);
    for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text);
  }
  const entries: Entry[] = [];
  const options = { store: join(folder.path, "store"), root, session: "s1", isRepository };
  const fail = (text: string) => expect.unreachable(text);
  const open = (earlier: readonly Entry[] = []) =>
    new Checkpoints(new SnapshotStore(options), async (entry) => void entries.push(entry), fail, earlier);
  return {
    root,
    entries,
    open,
    file: (name: string) => join(root, name),
    text: (name: string) => readFile(join(root, name), "utf8"),
    write: (name: string, text: string) => writeFile(join(root, name), text),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const turns = new WeakMap<Checkpoints, number>();

/** One turn of the agent that does `work`. */
async function turn(checkpoints: Checkpoints, work: () => Promise<unknown>, path?: string): Promise<void> {
  const number = (turns.get(checkpoints) ?? 0) + 1;
  turns.set(checkpoints, number);
  await checkpoints.before(number, path === undefined ? [] : [path]);
  await work();
  await checkpoints.after(number);
}

async function rewind(checkpoints: Checkpoints, to: number) {
  const plan = await checkpoints.plan(to);
  const left = await checkpoints.restore(
    to,
    plan.restore.map(({ path }) => path),
  );
  return { restored: plan.restore.map(({ path }) => path).sort(), foreign: plan.foreign.map(({ path }) => path).sort(), left };
}

describe("checkpoints", () => {
  test("what the person writes while the question stands open is left alone", async () => {
    await using one = await project({ "a.txt": "a", "b.txt": "b" });
    const checkpoints = one.open();
    await turn(checkpoints, () => Promise.all([one.write("a.txt", "agent"), one.write("b.txt", "agent")]));
    const { restore } = await checkpoints.plan(1);
    await one.write("b.txt", "the person's");
    const paths = restore.map(({ path }) => path);
    expect([paths, await checkpoints.restore(1, paths)]).toEqual([["a.txt", "b.txt"], ["b.txt"]]);
    expect([await one.text("a.txt"), await one.text("b.txt")]).toEqual(["a", "the person's"]);
  });

  test("what a turn changed, made, deleted, linked or chmodded by any way comes back, byte for byte", async () => {
    await using p = await project({ "a.txt": "a\r\nb\n", "dir/b.txt": "b", "run.sh": "#!/bin/sh\n", "gone.txt": "here" });
    await chmod(p.file("run.sh"), 0o755);
    await writeFile(p.file("untracked.bin"), Buffer.from([0, 255, 13, 10]));
    await writeFile(p.file("key.pem"), "secret", { mode: 0o600 });
    const checkpoints = p.open();
    await turn(checkpoints, async () => {
      await p.write("a.txt", "changed");
      await p.write("untracked.bin", "changed");
      await unlink(p.file("gone.txt"));
      await unlink(p.file("key.pem"));
      await mkdir(p.file("new/deep"), { recursive: true });
      await p.write("new/deep/made.txt", "made");
      await rm(p.file("dir"), { recursive: true });
      await symlink("a.txt", p.file("dir"));
      await chmod(p.file("run.sh"), 0o644);
    });
    const { foreign, left } = await rewind(checkpoints, 1);
    expect({ foreign, left }).toEqual({ foreign: [], left: [] });
    expect(await p.text("a.txt")).toBe("a\r\nb\n");
    expect([...(await readFile(p.file("untracked.bin")))]).toEqual([0, 255, 13, 10]);
    expect(await p.text("gone.txt")).toBe("here");
    expect(await p.text("dir/b.txt")).toBe("b");
    expect((await stat(p.file("key.pem"))).mode & 0o777).toBe(0o600);
    expect((await stat(p.file("run.sh"))).mode & 0o111).not.toBe(0);
    expect(await exists(p.file("new"))).toBe(false);
  });

  test("what somebody else changed, during or between the turns or after them, is named and stays", async () => {
    await using p = await project({ "agent.txt": "1", "both.txt": "1", "person.txt": "1", "late.txt": "1" });
    const checkpoints = p.open();
    await turn(checkpoints, async () => {
      await p.write("agent.txt", "2");
      await p.write("both.txt", "agent");
    });
    await p.write("person.txt", "mine");
    await p.write("both.txt", "agent, then me");
    await turn(checkpoints, () => p.write("late.txt", "agent"));
    await p.write("late.txt", "me again");
    expect(await rewind(checkpoints, 1)).toEqual({ restored: ["agent.txt"], foreign: ["both.txt", "late.txt", "person.txt"], left: [] });
    expect(await p.text("agent.txt")).toBe("1");
    expect(await p.text("person.txt")).toBe("mine");
    expect(await p.text("both.txt")).toBe("agent, then me");
    expect(await p.text("late.txt")).toBe("me again");
  });

  test("going back to a later turn undoes that turn only, and one can go back further after it", async () => {
    await using p = await project({ "a.txt": "0" });
    const checkpoints = p.open();
    for (const text of ["1", "2", "3"]) await turn(checkpoints, () => p.write("a.txt", text));
    await rewind(checkpoints, 3);
    expect(await p.text("a.txt")).toBe("2");
    await rewind(checkpoints, 1);
    expect(await p.text("a.txt")).toBe("0");
  });

  test("a session that goes on knows the steps from its file; one whose process was killed leaves the unclear to the person", async () => {
    await using p = await project({ "a.txt": "0", "b.txt": "0" });
    const first = p.open();
    await turn(first, () => p.write("a.txt", "1"));
    await first.before(2);
    await p.write("b.txt", "half");
    const second = p.open(p.entries);
    expect(await rewind(second, 1)).toEqual({ restored: ["a.txt"], foreign: ["b.txt"], left: [] });
    expect(await p.text("b.txt")).toBe("half");
  });

  test("the user's git is not touched: index, objects, refs and status stay as they are", async () => {
    await using p = await project({ "a.txt": "0", "b.txt": "0" });
    await p.write("b.txt", "staged");
    await gitText(p.root, ["add", "b.txt"]);
    const state = async () => ({
      index: createHash("sha256")
        .update(await readFile(p.file(".git/index")))
        .digest("hex"),
      files: (await readdir(p.file(".git"), { recursive: true })).sort(),
    });
    const before = await state();
    const checkpoints = p.open();
    await turn(checkpoints, () => p.write("a.txt", "1"));
    await rewind(checkpoints, 1);
    expect(await state()).toEqual(before);
    expect(await gitText(p.root, ["status", "--porcelain"])).toBe("M  b.txt");
    expect(await p.text("b.txt")).toBe("staged");
  });

  test("line endings and filters that git would apply change no byte", async () => {
    await using p = await project({
      ".gitattributes": "*.txt text eol=lf filter=upper\n*.bin ident\n",
      "a.txt": "one\r\ntwo\r\n",
      "x.bin": "$Id$",
    });
    await gitText(p.root, ["config", "filter.upper.clean", "tr a-z A-Z"]);
    await p.write("a.txt", "one\r\ntwo\r\n");
    const checkpoints = p.open();
    await turn(checkpoints, async () => {
      await p.write("a.txt", "x");
      await p.write("x.bin", "y");
    });
    await rewind(checkpoints, 1);
    expect(await p.text("a.txt")).toBe("one\r\ntwo\r\n");
    expect(await p.text("x.bin")).toBe("$Id$");
  });

  test("an ignored file counts once a file tool is about to write it; other ignored files are left alone", async () => {
    await using p = await project({ ".gitignore": ".env\nbuild/\n" });
    await p.write(".env", "KEY=old");
    await mkdir(p.file("build"));
    await p.write("build/out", "old");
    const checkpoints = p.open();
    await turn(
      checkpoints,
      async () => {
        await p.write(".env", "KEY=new");
        await p.write("build/out", "new");
      },
      p.file(".env"),
    );
    await rewind(checkpoints, 1);
    expect(await p.text(".env")).toBe("KEY=old");
    expect(await p.text("build/out")).toBe("new");
  });

  test("without a repository it works the same, and a link out of the folder is not followed", async () => {
    await using outside = await tempFolder();
    await writeFile(join(outside.path, "made.txt"), "not ours");
    await using p = await project({ "a.txt": "0" }, { isRepository: false });
    const checkpoints = p.open();
    await turn(checkpoints, async () => {
      await p.write("a.txt", "1");
      await mkdir(p.file("d"));
      await p.write("d/made.txt", "made");
    });
    await rm(p.file("d"), { recursive: true });
    await symlink(outside.path, p.file("d"));
    await rewind(checkpoints, 1);
    expect(await p.text("a.txt")).toBe("0");
    expect(await readlink(p.file("d"))).toBe(outside.path);
    expect((await lstat(join(outside.path, "made.txt"))).isFile()).toBe(true);
  });

  test("files of a submodule stay as they are: also those beside one that a tool wrote", async () => {
    await using repo = await project({ "a.txt": "a" });
    const sub = repo.file("sub");
    await sampleRepository(sub, { "in.txt": "in", "beside.txt": "beside" });
    await gitText(repo.root, ["-c", "advice.addEmbeddedRepo=false", "add", "sub"]);
    await writeFile(join(sub, "unsaved.txt"), "of the person");
    const checkpoints = repo.open();
    await turn(checkpoints, () => repo.write("sub/in.txt", "agent").then(() => repo.write("a.txt", "agent")), join(sub, "in.txt"));
    expect(await rewind(checkpoints, 1)).toEqual({ restored: ["a.txt"], foreign: [], left: [] });
    expect([await repo.text("sub/beside.txt"), await repo.text("sub/unsaved.txt")]).toEqual(["beside", "of the person"]);
  });

  test("a file whose earlier bytes the user's git has thrown away is left as it is, and named", async () => {
    await using repo = await project({ "a.txt": "committed", "b.txt": "b" });
    await repo.write("a.txt", "only staged");
    await gitText(repo.root, ["add", "a.txt"]);
    const checkpoints = repo.open();
    await turn(checkpoints, () => repo.write("a.txt", "agent").then(() => repo.write("b.txt", "agent")));
    await gitText(repo.root, ["reset", "--quiet"]);
    await gitText(repo.root, ["prune", "--expire=now"]);
    expect((await rewind(checkpoints, 1)).left).toEqual(["a.txt"]);
    expect([await repo.text("a.txt"), await repo.text("b.txt")]).toEqual(["agent", "b"]);
  });

  test.each([
    ["a lock of a process that was killed", (index: string) => writeFile(`${index}.lock`, "")],
    ["a damaged index", (index: string) => writeFile(index, "garbage")],
    ["damaged notes of modes", (index: string) => writeFile(`${index}.modes.json`, "{")],
  ])("%s does not end them", async (_what, damage) => {
    await using repo = await project({ "a.txt": "a" });
    await turn(repo.open(), () => repo.write("a.txt", "one"));
    await damage(join(repo.root, "..", "store", "index-s1"));
    const later = repo.open(repo.entries);
    await later.before(2);
    await repo.write("a.txt", "two");
    await later.after(2);
    expect((await rewind(later, 2)).restored).toEqual(["a.txt"]);
    expect(await repo.text("a.txt")).toBe("one");
  });

  test.each([["--split-index"], ["--assume-unchanged", "a.txt"], ["--skip-worktree", "a.txt"]])(
    "an index of the user with %s hides no change",
    async (...flags) => {
      await using repo = await project({ "a.txt": "a" });
      await gitText(repo.root, ["update-index", ...flags]);
      const checkpoints = repo.open();
      await turn(checkpoints, () => repo.write("a.txt", "agent"));
      expect((await rewind(checkpoints, 1)).restored).toEqual(["a.txt"]);
      expect(await repo.text("a.txt")).toBe("a");
    },
  );
});
