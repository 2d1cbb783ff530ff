import { expect, test } from "vitest";
import { createAuthorize } from "../../../src/safety/authorize.ts";
import { integratorGrants } from "../../../src/team/converge/integrator-job.ts";
import { tempFolder } from "../../support/temp.ts";
import { git } from "./team-ground.ts";

const BRANCH = "worktree-team-auth+alice";

/** What the rules allow without a person, in a mode that allows no command and no edit by itself. */
async function decisionOf(tool: "Bash" | "EditFile", subject: string): Promise<string> {
  await using folder = await tempFolder();
  git(folder.path, "init", "--quiet");
  const conflicts = ["f.txt", "app/[id].tsx", "d é/x y.txt"];
  const authorize = createAuthorize({
    context: {
      root: folder.path,
      cwd: folder.path,
      home: `${folder.path}/home`,
      dataFolder: `${folder.path}/home/.roocode`,
      extraRoots: [],
      mode: () => "default",
      rules: () => ({ rules: [], warnings: [] }),
      isTrusted: true,
      granted: integratorGrants([
        {
          name: "alice",
          branch: BRANCH,
          tip: "",
          fork: "",
          commits: [],
          changes: new Map(conflicts.map((file) => [file, "M"])),
          conflicts,
        },
      ]),
      isHeadless: true,
    },
  });
  const access = tool === "Bash" ? { kind: "command" as const, subject } : { kind: "write" as const, subject, paths: [subject] };
  return (await authorize({ agent: "integrator", tool, access }, new AbortController().signal)).decision;
}

test.each([
  `git merge --no-ff -m "merge: alice" ${BRANCH}`,
  `git merge --no-ff ${BRANCH}`,
  "git merge --abort",
  "git add f.txt",
  'git commit -m "merge(alice): resolve conflict"',
  "git checkout --theirs f.txt",
  "git checkout --ours -- f.txt",
  "git status --short && git log --oneline -5",
  "git diff --name-only --diff-filter=U",
  "git branch --no-merged",
  "git rev-parse HEAD",
  `git merge-tree --write-tree HEAD ${BRANCH}`,
])("the integrator may run: %s", async (command) => {
  expect(await decisionOf("Bash", command)).toBe("allow");
});

test.each(["git merge --no-ff -m x somebody-else", "git checkout -b x", "git reset --hard", "git push", "rm f.txt"])(
  "the integrator asks before: %s",
  async (command) => {
    expect(await decisionOf("Bash", command)).toBe("deny");
  },
);

test("it may edit files of the conflict and no other", async () => {
  const paths = ["f.txt", "app/[id].tsx", "d é/x y.txt", "other.txt", "sub/f.txt"];
  expect(await Promise.all(paths.map((path) => decisionOf("EditFile", path)))).toEqual(["allow", "allow", "allow", "deny", "deny"]);
});
