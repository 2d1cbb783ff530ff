import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commitAll } from "../../src/platform/commit.ts";
import { git, teamGround, write } from "../team/converge/team-ground.ts";

test.each(["add", "commit"])("git %s is killed with its locks in place: what is dirty is committed all the same", async (command) => {
  await using ground = await teamGround({ members: ["alice"] });
  const worktree = ground.worktreeOf("alice");
  const bin = join(ground.repo, "..", "bin");
  mkdirSync(bin);
  const real = join(git(ground.repo, "--exec-path"), "git");
  const locks = ["index.lock", "HEAD.lock"].map((name) => git(worktree, "rev-parse", "--path-format=absolute", "--git-path", name));
  writeFileSync(
    join(bin, "git"),
    `#!/bin/sh
[ "$1" = ${command} ] && [ ! -f '${bin}/once' ] || exec '${real}' "$@"
: > '${bin}/once'
${locks.map((path) => `: > '${path}'`).join("\n")}
kill -9 $$
`,
  );
  chmodSync(join(bin, "git"), 0o755);
  write(worktree, { "f.txt": "alice's\n", "new.txt": "new\n" });
  const path = process.env.PATH;
  process.env.PATH = `${bin}:${path}`;
  try {
    expect(await commitAll(worktree, { subject: "work" })).toMatch(/^[0-9a-f]{40}$/);
  } finally {
    process.env.PATH = path;
  }
  expect(existsSync(join(bin, "once"))).toBe(true);
  expect(git(worktree, "status", "--porcelain")).toBe("");
  expect(git(worktree, "log", "-1", "--format=%s")).toBe("work");
});
