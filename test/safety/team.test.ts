import { expect, test } from "vitest";
import { decide } from "../../src/safety/decide.ts";
import { DISK } from "../../src/safety/path-sandbox.ts";
import { ruleSet } from "../../src/safety/rules.ts";
import { accessIn } from "../support/access.ts";

const primary = "/home/dev/proj";
const worktrees = "/home/dev/.roocode/worktrees/proj-1234/t";
const own = `${worktrees}/alice`;

function decideFor(tool: string, input: Record<string, unknown>) {
  return decide(
    { agent: "alice", tool, access: accessIn(tool, input) },
    {
      ground: {
        root: own,
        cwd: own,
        home: "/home/dev",
        dataFolder: "/home/dev/.roocode",
        extraRoots: [],
        team: { primaryCheckout: primary, ownBranch: "worktree-team-t+alice", worktreesRoot: worktrees },
        files: DISK,
      },
      mode: "bypassPermissions",
      rules: ruleSet({ local: ["allow Bash", "allow Edit"] }),
      isTrusted: true,
      gitIsSafe: () => true,
    },
  );
}

const refused = [
  `echo x > ${primary}/a.ts`,
  `cd ${primary} && touch a.ts`,
  `cp a.ts ${worktrees}/bob/a.ts`,
  `rm -rf ${worktrees}/bob`,
  `git -C ${primary} commit -am x`,
  `git -C ../bob commit -am x`,
  `cd ../bob && git add -A`,
  `cd ${primary}; git merge worktree-team-t+alice`,
  `git --git-dir=${primary}/.git --work-tree=${primary} checkout .`,
  `GIT_DIR=${primary}/.git git reset --hard HEAD~1`,
  "git stash",
  "git stash pop",
  "git stash drop",
  "git checkout worktree-team-t+bob",
  "git checkout main",
  "git switch main",
  "git branch -D worktree-team-t+bob",
  "git branch -f main HEAD",
  "git worktree remove ../bob --force",
  "git worktree add ../x",
  "git update-ref refs/heads/main HEAD",
  "git push . HEAD:main",
  "git fetch . HEAD:worktree-team-t+bob",
  `bash -c 'cd ${primary} && git commit -am x'`,
  `sudo git -C ${primary} gc`,
  `find ${worktrees} -delete`,
];

test("a teammate's commands reach neither the primary checkout, its stash, nor another's branch or worktree", async () => {
  for (const command of refused) {
    const decision = await decideFor("Bash", { command });
    expect(`${command}: ${decision.decision} ${decision.layer}`).toMatch(/: deny (path|danger)$/);
  }
});

const free = [
  "git add a.ts",
  "git commit -m x",
  "git status",
  "git log main..HEAD",
  `git -C ${own} diff`,
  "git checkout -- a.ts",
  "git checkout -b scratch",
  "git merge main",
  "git rebase main",
  "git branch --list",
  "git worktree list",
  "git stash list",
  "git push origin worktree-team-t+alice",
  "npm test",
  "echo x > src/a.ts",
  "rm -rf dist",
  "git reset --hard HEAD~1",
];

test("in its own worktree a teammate works freely", async () => {
  for (const command of free) expect(`${command}: ${(await decideFor("Bash", { command })).decision}`).toBe(`${command}: allow`);
});

test("a teammate's file tools stay in its worktree, whose place below the data folder protects nothing in it", async () => {
  const decisionOf = async (path: string) => (await decideFor("WriteFile", { path, content: "x" })).decision;
  expect(await decisionOf("src/a.ts")).toBe("allow");
  expect(await decisionOf(`${own}/b.ts`)).toBe("allow");
  expect(await decisionOf("../bob/a.ts")).toBe("deny");
  expect(await decisionOf(`${primary}/a.ts`)).toBe("deny");
  expect(await decisionOf(".git")).toBe("deny");
  expect(await decisionOf(".roocode/config.yaml")).toBe("deny");
  expect(await decisionOf("/home/dev/.roocode/teams/t/inboxes/lead/new/1.json")).toBe("deny");
});

test.each([
  [`${primary}/src/a.ts`, `${own}/src/a.ts`],
  [`${worktrees}/bob/src/a.ts`, `${own}/src/a.ts`],
])("W13: a write to %s is denied with the path of the own worktree", async (path, meant) => {
  const decision = await decideFor("WriteFile", { path, content: "x" });
  expect(decision).toMatchObject({ decision: "deny", layer: "path" });
  expect(decision.reason).toContain(`in your own worktree it is "${meant}"`);
});
