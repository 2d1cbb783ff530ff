import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { commitAll, notCommittable } from "../../src/platform/commit.ts";
import { cleanTeam } from "../../src/team/clean.ts";
import { equipWorktree } from "../../src/team/worktree-needs.ts";
import { type Ground, git, read, teamGround, write } from "./converge/team-ground.ts";

afterEach(() => vi.unstubAllEnvs());

const POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n";
const FILES = { ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "big.bin": POINTER, "f.txt": "one\n" };

/** Stands in for git-lfs, set up as `git lfs install` does it: content to pointer and back, by a store of files. */
function installFilter(ground: Ground): void {
  const home = join(dirname(ground.repo), "home");
  mkdirSync(home);
  const filter = join(home, "lfs-filter");
  const script = `#!/bin/sh
case "$1" in
clean) t=$(cat); case "$t" in version*) printf '%s\\n' "$t";; *) printf '%s' "$t" > "${home}/store"; printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:0\\nsize 5\\n';; esac;;
smudge) cat > /dev/null; cat "${home}/store" ;;
esac
`;
  writeFileSync(filter, script);
  chmodSync(filter, 0o755);
  writeFileSync(join(home, "store"), "WHOLE");
  const setting = (verb: string) => `\t${verb} = ${filter} ${verb}\n`;
  writeFileSync(join(home, ".gitconfig"), `[filter "lfs"]\n${setting("clean")}${setting("smudge")}\trequired = true\n`);
  vi.stubEnv("HOME", home);
}

async function equipped(ground: Ground): Promise<string[]> {
  git(ground.repo, "worktree", "remove", "--force", ground.worktreeOf("alice"));
  const path = ground.worktreeOf("alice");
  const { addWorktree } = await import("../../src/platform/worktree.ts");
  git(ground.repo, "branch", "-D", ground.branchOf("alice"));
  await addWorktree({
    primary: ground.repo,
    path,
    branch: ground.branchOf("alice"),
    commit: git(ground.repo, "rev-parse", "HEAD"),
    lockPath: ground.lock,
  });
  return (await equipWorktree({ primary: ground.repo, path, needs: ground.needs }, new AbortController().signal)).notes;
}

const inHistory = (ground: Ground, path: string) => git(ground.worktreeOf("alice"), "cat-file", "blob", `HEAD:${path}`);

test("with git-lfs set up a worktree has the whole files, an untouched one is no change, and an edited one is committed as a pointer", async () => {
  await using ground = await teamGround({ members: ["alice"], files: FILES });
  installFilter(ground);
  expect(await equipped(ground)).toEqual([]);
  const path = ground.worktreeOf("alice");
  expect(read(path, "big.bin")).toBe("WHOLE");
  write(path, { "f.txt": "two\n" });
  expect(await commitAll(path, { subject: "text" })).toBeDefined();
  expect(git(path, "show", "--format=", "--name-only", "HEAD")).toBe("f.txt");
  write(path, { "big.bin": "OTHER" });
  expect(await notCommittable(path, ground.branchOf("alice"))).toBeUndefined();
  await commitAll(path, { subject: "binary", mustTakeAll: true });
  expect(inHistory(ground, "big.bin")).toContain("version https://git-lfs");
});

test("without git-lfs the files are pointers and that is said; a whole file is not committed, the rest is, and nothing is lost", async () => {
  await using ground = await teamGround({ members: ["alice"], files: FILES });
  vi.stubEnv("HOME", dirname(ground.repo));
  expect(await equipped(ground)).toEqual([expect.stringMatching(/Git LFS, and git-lfs is not set up here: .*git lfs install/)]);
  const path = ground.worktreeOf("alice");
  expect(read(path, "big.bin")).toBe(POINTER);
  write(path, { "big.bin": "WHOLE", "new é.bin": "NEW", "f.txt": "two\n" });
  expect(await notCommittable(path, ground.branchOf("alice"))).toMatch(/^big\.bin, new é\.bin belong in Git LFS/);
  await expect(commitAll(path, { subject: "all", mustTakeAll: true })).rejects.toThrow(/^big\.bin, new é\.bin belong in Git LFS/);
  await commitAll(path, { subject: "all" });
  expect(git(path, "show", "--format=", "--name-only", "HEAD")).toBe("f.txt");
  expect(inHistory(ground, "big.bin")).toBe(POINTER.trim());
  git(ground.repo, "merge", "--quiet", ground.branchOf("alice"));
  const cleaned = await cleanTeam({
    bus: ground.bus,
    primary: ground.repo,
    checkout: ground.repo,
    worktrees: ground.worktrees,
    worktreeLock: ground.lock,
    needs: ground.needs,
  });
  expect(cleaned.kept).toEqual(["alice"]);
  expect(read(path, "big.bin")).toBe("WHOLE");
  // A deleted one, and a pointer to other content, are changes like any other.
  rmSync(join(path, "new é.bin"));
  write(path, { "big.bin": POINTER.replace("size 5", "size 6") });
  await commitAll(path, { subject: "pointer" });
  expect(inHistory(ground, "big.bin")).toContain("size 6");
  expect(existsSync(path)).toBe(true);
});
