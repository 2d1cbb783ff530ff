import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { commitAll } from "../../src/platform/commit.ts";
import { acceptGitPrograms, changedFiles, git, gitText, programsOf } from "../../src/platform/git.ts";
import { tempFolder } from "../support/temp.ts";

/** Without input: what git starts must not wait for any. */
function run(file: string, args: readonly string[], options: { cwd?: string } = {}) {
  const done = promisify(execFile)(file, args, options);
  done.child.stdin?.end();
  return done;
}

/** A repository with a branch that merges, and `trap`: a program that leaves a mark when git starts it. */
async function repository() {
  const folder = await tempFolder();
  const top = join(folder.path, "top");
  const mark = join(folder.path, "ran");
  const trap = join(folder.path, "trap.sh");
  const plain = (...args: readonly string[]) =>
    run("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "protocol.file.allow=always", ...args], { cwd: top });
  await writeFile(trap, `#!/bin/sh\ntouch '${mark}'\nexec cat\n`, { mode: 0o755 });
  await mkdir(top);
  await plain("init", "-q", "-b", "main");
  await writeFile(join(top, "file.txt"), "one\n");
  await writeFile(join(top, ".gitattributes"), "*.txt filter=x diff=x merge=x\n");
  await plain("add", "-A");
  await plain("commit", "-qm", "start");
  await plain("checkout", "-qb", "side");
  await writeFile(join(top, "file.txt"), "side\n");
  await plain("commit", "-qam", "side");
  await plain("checkout", "-q", "main");
  return {
    top,
    trap,
    plain,
    /** The file looks changed, so that git has to compare. */
    touch: (path = "file.txt") => utimes(join(top, path), 1, Math.random() * 1e9),
    ran: async () => {
      const did = existsSync(mark);
      await rm(mark, { force: true });
      return did;
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
type Place = Awaited<ReturnType<typeof repository>>;

/** Every kind of git that RooCode starts. */
async function everything({ top, touch }: Place): Promise<void> {
  await touch();
  await git(top, ["status", "--porcelain", "--untracked-files=all"]);
  await touch();
  await git(top, ["diff", "--quiet"]);
  await touch();
  await changedFiles(top);
  await git(top, ["diff", "--check", "--no-ext-diff", "--no-textconv", "main", "side"]);
  await git(top, ["diff", "--numstat", "main", "side"]);
  await git(top, ["log", "--format=%h %s", "-1"]);
  await git(top, ["log", "-1", "signed"]);
  await git(top, ["merge-tree", "--write-tree", "-z", "--name-only", "main", "side"]);
  await git(top, ["worktree", "add", "--quiet", "--detach", join(top, "..", "wt")]);
  await git(top, ["worktree", "remove", "--force", join(top, "..", "wt")]);
  await writeFile(join(top, "file.txt"), "changed\n");
  await commitAll(top, { subject: "work" }).catch(() => undefined);
}

type Setting = [name: string, set: (place: Place) => Promise<unknown>, control: readonly string[]];
const SETTINGS: readonly Setting[] = [
  ["core.fsmonitor", ({ plain, trap }) => plain("config", "core.fsmonitor", trap), ["status"]],
  ["a clean filter", ({ plain, trap }) => plain("config", "filter.x.clean", trap), ["status"]],
  ["a smudge filter", ({ plain, trap }) => plain("config", "filter.x.smudge", trap), ["checkout", "-q", "side"]],
  ["a required filter process", ({ plain, trap }) => setAll(plain, { "filter.x.process": trap, "filter.x.required": "true" }), ["status"]],
  ["diff.external", ({ plain, trap }) => plain("config", "diff.external", trap), ["diff", "main", "side"]],
  ["textconv", ({ plain, trap }) => plain("config", "diff.x.textconv", trap), ["diff", "main", "side"]],
  ["a diff command", ({ plain, trap }) => plain("config", "diff.x.command", trap), ["diff", "main", "side"]],
  ["gpg.program", signed, ["log", "-1", "signed"]],
  ["a filter in an included file", included, ["status"]],
  ["hooks", hooks, ["checkout", "-q", "side"]],
];

async function setAll(plain: Place["plain"], settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [key, value] of Object.entries(settings)) await plain("config", key, value);
}

async function included({ top, plain, trap }: Place): Promise<void> {
  await writeFile(join(top, "..", "more"), `[filter "x"]\n\tclean = ${trap}\n`);
  await plain("config", "include.path", join(top, "..", "more"));
}

async function hooks({ top, trap }: Place): Promise<void> {
  const script = await readFile(trap);
  for (const name of [
    "post-checkout",
    "post-merge",
    "pre-commit",
    "commit-msg",
    "post-commit",
    "post-index-change",
    "reference-transaction",
  ])
    await writeFile(join(top, ".git", "hooks", name), script, { mode: 0o755 });
}

/** A commit that says that it is signed. */
async function signed({ plain, trap, top }: Place): Promise<void> {
  const { stdout } = await plain("cat-file", "commit", "HEAD");
  const [head = "", ...message] = stdout.split("\n\n");
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
  await writeFile(join(top, "..", "commit"), `${head}\n${signature}\n\n${message.join("\n\n")}`);
  const { stdout: id } = await plain("hash-object", "-t", "commit", "-w", join(top, "..", "commit"));
  await plain("update-ref", "refs/tags/signed", id.trim());
  await setAll(plain, { "gpg.program": trap, "log.showSignature": "true" });
}

describe("no git of ours starts a program that the repository names", () => {
  test.each(SETTINGS)("%s", async (_, set, control) => {
    await using place = await repository();
    await set(place);
    await place.touch();
    await place.plain(...control).catch(() => undefined);
    expect(await place.ran(), "plain git starts it, so the trap works").toBe(true);
    await git(place.top, ["symbolic-ref", "HEAD", "refs/heads/main"]);
    await everything(place);
    expect(await place.ran()).toBe(false);
  });

  test("a submodule's filter and monitor", async () => {
    await using place = await repository();
    const { top, plain, trap } = place;
    await run("git", ["clone", "-q", top, join(top, "..", "lib")]);
    await plain("submodule", "--quiet", "add", join(top, "..", "lib"), "deep/lib");
    await plain("commit", "-qm", "with a submodule");
    for (const key of ["filter.x.clean", "core.fsmonitor"]) await run("git", ["config", key, trap], { cwd: join(top, "deep/lib") });
    await place.touch("deep/lib/file.txt");
    await plain("status");
    expect(await place.ran()).toBe(true);
    await place.touch("deep/lib/file.txt");
    await everything(place);
    await git(top, ["add", "--all"]);
    expect(await place.ran()).toBe(false);
  });
});

test("a filter of a submodule that keeps its own git folder is not started by looking at the repository around it", async () => {
  await using place = await repository();
  const { top, plain, trap, touch, ran } = place;
  const inside = (...args: readonly string[]) =>
    run("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], { cwd: join(top, "old") });
  await mkdir(join(top, "old"));
  await inside("init", "-q", "-b", "main");
  await writeFile(join(top, "old", ".gitattributes"), "*.txt filter=x\n");
  await writeFile(join(top, "old", "a.txt"), "one\n");
  await inside("add", "-A");
  await inside("commit", "-qm", "start");
  await plain("add", "old");
  await plain("commit", "-qm", "with a submodule");
  await inside("config", "filter.x.clean", trap);
  await touch("old/a.txt");
  await plain("status");
  expect(await ran()).toBe(true);
  for (const args of [
    ["status", "--porcelain"],
    ["diff", "--quiet"],
  ]) {
    await touch("old/a.txt");
    await git(top, args);
  }
  expect(await ran()).toBe(false);
});

test("what a worktree holds beside its commits goes by whole paths", async () => {
  await using place = await repository();
  await writeFile(join(place.top, "file.txt"), "changed\n");
  await writeFile(join(place.top, "new file.txt"), "new\n");
  expect(await changedFiles(place.top)).toEqual(["file.txt", "new file.txt"]);
});

test("a merge driver that nobody accepted is git's own merge in a preview: no side is lost without a word", async () => {
  await using place = await repository();
  const { top, plain } = place;
  await plain("config", "merge.x.driver", "true");
  await writeFile(join(top, "file.txt"), "main\n");
  await plain("commit", "-qam", "main");
  const merged = await git(top, ["merge-tree", "--write-tree", "-z", "--name-only", "main", "side"]);
  expect(merged.exitCode).toBe(1);
  expect(merged.stdout).toContain("file.txt");
  await expect(gitText(top, ["merge", "--no-ff", "side"])).rejects.toThrow(/merge\.x\.driver.*nobody accepted/);
});

test("where a filter is not accepted nothing is committed in its place, and the reason names it; accepted, it works", async () => {
  await using place = await repository();
  const { top, plain } = place;
  await plain("config", "filter.x.clean", "tr a-z A-Z");
  await writeFile(join(top, "file.txt"), "secret\n");
  await expect(commitAll(top, { subject: "work" })).rejects.toThrow(/filter\.x\.clean.*nobody accepted.*--trust/);
  acceptGitPrograms(await programsOf(top));
  await commitAll(top, { subject: "work" });
  expect((await plain("show", "HEAD:file.txt")).stdout).toBe("SECRET\n");
  await plain("config", "filter.x.clean", "tr a-z 0-9");
  await writeFile(join(top, "file.txt"), "other\n");
  await expect(commitAll(top, { subject: "work" })).rejects.toThrow(/nobody accepted/);
});
