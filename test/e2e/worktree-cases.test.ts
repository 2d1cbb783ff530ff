import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Answer, Conversation, Step } from "../../src/interaction/demo/conversation.ts";
import type { AnswerFunction } from "../../src/interaction/demo/model-server.ts";
import { gitText } from "../../src/platform/git.ts";
import { fakeModel, inOrder } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { statusOf } from "../support/running-team.ts";

const LONG = 60_000;
const FILES = { "f.txt": "one\n", ".gitignore": ".env*\n.roocode/config.local.yaml\n" };
const FLAGS = ["-p", "--name", "case", "--backend", "process", "--output-format", "json"];

type Members = Record<string, readonly Answer[]>;

/** The lead starts these members in one turn and waits; each says its answers in order. */
function team(members: Members, ...lead: readonly Answer[]): AnswerFunction {
  const agents = Object.keys(members).map((name) => ({ name: "Agent", input: { name, description: "a worker", prompt: "Do it." } }));
  return (conversation) => {
    const { role } = conversation;
    const answers = role.type === "worker" ? (members[role.name] ?? []) : [{ calls: agents }, ...lead, { text: "I wait." }];
    return inOrder(...answers)(conversation);
  };
}

const write = (path: string, content = "changed\n"): Answer => ({ calls: [{ name: "WriteFile", input: { path, content } }] });

function results(conversation: Conversation | undefined): string[] {
  return (conversation?.steps ?? []).flatMap((step: Step) => (step.type === "call" ? [step.result] : []));
}

const isOf = (name: string) => (conversation: Conversation) => conversation.role.type === "worker" && conversation.role.name === name;

test(
  "W02: where no worktree can be made the lead reads why, no teammate runs, and the main checkout is as it was",
  async () => {
    await using home = await testHome(FILES);
    await mkdir(home.data, { recursive: true });
    // Also for root, whom permissions do not stop.
    await writeFile(join(home.data, "worktrees"), "in the way");
    await using model = await fakeModel(team({ alice: [{ text: "I run." }] }));
    const run = await home.roocode(["team", "goal", ...FLAGS], { env: model.env("anthropic"), timeoutMs: LONG });
    expect(results(model.requests.at(-1))[0], run.stderr).toMatch(/alice could not get a worktree: /);
    expect(model.requests.some(isOf("alice"))).toBe(false);
    expect(run.stderr).toContain("alice could not get a worktree");
    expect(await gitText(home.repo, ["status", "--porcelain"])).toBe("");
    expect(await gitText(home.repo, ["branch", "--format=%(refname:short)"])).toBe("main");
  },
  LONG,
);

test(
  "W06: out of a linked worktree's subfolder teammates lie at one place, begin at its HEAD, and cleaning leaves it and the primary branch alone",
  async () => {
    await using home = await testHome({ ...FILES, "sub/s.txt": "s\n" });
    const linked = join(home.home, "linked");
    await gitText(home.repo, ["worktree", "add", "--quiet", "-b", "feature", linked]);
    await gitText(linked, ["commit", "--quiet", "--allow-empty", "--message=ahead"]);
    const [main, feature] = await Promise.all([gitText(home.repo, ["rev-parse", "main"]), gitText(linked, ["rev-parse", "HEAD"])]);
    await using model = await fakeModel(team({ alice: [{ text: "Done." }], bob: [write("b.txt"), { text: "Done." }] }));
    const run = await home.roocode(["team", "goal", ...FLAGS, "--no-merge"], {
      cwd: join(linked, "sub"),
      env: model.env("anthropic"),
      timeoutMs: LONG,
    });
    expect(run.code, run.stderr).toBe(0);
    const { members } = await statusOf(home, "case");
    expect(members.map(({ baseCommit }) => baseCommit)).toEqual([feature, feature]);
    expect(new Set(members.map(({ worktree }) => dirname(worktree))).size).toBe(1);
    expect(members[0]?.worktree.startsWith(join(home.data, "worktrees"))).toBe(true);

    // What --no-merge left is named with the commands, and these do what they say.
    const { result } = JSON.parse(run.stdout);
    expect(result).toContain("alice: nothing on worktree-team-case+alice");
    expect(result).toContain(`bob: 1 commit on worktree-team-case+bob, worktree ${members.find(({ name }) => name === "bob")?.worktree}\n`);
    const merge = /merge it: git (.*)/.exec(result)?.[1]?.split(" ") ?? [];
    expect(merge.slice(0, 2)).toEqual(["-C", linked]);
    await gitText(linked, merge);
    const cleaned = await home.roocode(["team", "clean", "case"]);
    expect(cleaned).toMatchObject({ code: 0 });
    expect(await readFile(join(linked, "b.txt"), "utf8")).toBe("changed\n");
    expect(await gitText(home.repo, ["rev-parse", "main"])).toBe(main);
    expect((await gitText(home.repo, ["worktree", "list"])).split("\n")).toHaveLength(2);
    expect(await gitText(home.repo, ["branch", "--format=%(refname:short)"])).toBe("feature\nmain");
  },
  LONG,
);

test(
  "W12, W13: writes by the main checkout's path, through a link and into a sibling's worktree are denied with the path to use; the checkout stays clean",
  async () => {
    await using home = await testHome({ ...FILES, "package.json": "{}\n" });
    await mkdir(join(home.repo, "node_modules", "x"), { recursive: true });
    await writeFile(join(home.repo, ".git", "info", "exclude"), "node_modules/\n");
    await symlink(home.repo, join(home.home, "link"));
    const worktrees = async () => join(home.data, "worktrees", (await readdir(join(home.data, "worktrees")))[0] ?? "", "case");
    let seen: string[] = [];
    const answer: AnswerFunction = async (conversation) => {
      const { role, rounds } = conversation;
      if (role.type !== "worker" || role.name !== "alice") return team({ bob: [{ text: "Done." }], alice: [] })(conversation);
      if (rounds === 0) return write(join(home.repo, "f.txt"));
      if (rounds === 1) return write(join(home.home, "link", "f.txt"));
      if (rounds === 2) return write(join(await worktrees(), "bob", "f.txt"));
      if (rounds === 3) {
        seen = [await gitText(home.repo, ["status", "--porcelain"])];
        await gitText(home.repo, ["add", "-A"]);
        seen.push(await gitText(home.repo, ["diff", "--cached", "--name-only"]));
      }
      return { text: "Enough." };
    };
    await using model = await fakeModel(answer);
    const run = await home.roocode(["team", "goal", ...FLAGS, "--permission-mode", "bypassPermissions"], {
      env: model.env("anthropic"),
      timeoutMs: LONG,
    });
    const denied = results(model.requests.findLast(isOf("alice")));
    expect(denied, run.stderr).toHaveLength(3);
    const own = join(await worktreesOf(denied), "alice", "f.txt");
    for (const text of denied) expect(text).toContain(own);
    expect(seen).toEqual(["", ""]);
    expect(await readFile(join(home.repo, "f.txt"), "utf8")).toBe("one\n");

    async function worktreesOf(texts: readonly string[]): Promise<string> {
      return /\/\S+\/worktrees\/[^/]+\/case/.exec(texts.join(" "))?.[0] ?? "";
    }
  },
  LONG,
);

test(
  "the integrator reaches neither the checkout nor a branch, whatever the mode",
  async () => {
    await using home = await testHome(FILES);
    const refused = [
      "git update-ref refs/heads/main HEAD",
      "git branch -f worktree-team-case+bob main",
      `git -C ${home.repo} reset --hard HEAD~1`,
      `cd ${home.repo} && git commit --allow-empty -m x`,
      "git stash",
      "git worktree remove --force ../bob",
    ];
    const merge = "git merge --no-ff -m 'merge: alice' worktree-team-case+alice";
    const calls = [merge, ...refused].map((command) => ({ name: "Bash", input: { command } }));
    const members = team({ alice: [write("a.txt"), { text: "Done." }] }, { calls: [{ name: "Converge", input: {} }] });
    await using model = await fakeModel((conversation) =>
      conversation.role.type === "integrator" ? inOrder({ calls }, { text: "Merged." })(conversation) : members(conversation),
    );
    const run = await home.roocode(["team", "goal", ...FLAGS, "--permission-mode", "bypassPermissions"], {
      env: model.env("anthropic"),
      timeoutMs: LONG,
    });
    const said = results(model.requests.findLast(({ role }) => role.type === "integrator"));
    expect(said[0], run.stderr).toContain("accepted the merge of alice");
    for (const [index, command] of refused.entries()) expect(`${command}: ${said[index + 1]}`).toContain("Permission denied");
    expect(await gitText(home.repo, ["log", "-1", "--format=%s", "main"])).toBe("merge: alice");
    expect(await gitText(home.repo, ["status", "--porcelain"])).toBe("");
  },
  LONG,
);

test(
  "of two that clean at once one does it, and the other says in one line that it goes on",
  async () => {
    await using home = await testHome(FILES);
    await using model = await fakeModel(team({ alice: [write("a.txt"), { text: "Done." }] }));
    const env = model.env("anthropic");
    await home.roocode(["team", "goal", ...FLAGS, "--no-merge"], { env, timeoutMs: LONG });
    const runs = await Promise.all([1, 2, 3].map(() => home.roocode(["team", "clean", "--force", "case"], { env })));
    expect(runs.map(({ code }) => code).sort(), runs.map(({ stderr }) => stderr).join("\n")).toEqual([0, 2, 2]);
    for (const { stderr } of runs) expect(stderr).not.toContain("unexpected");
    expect(await gitText(home.repo, ["show", "refs/roocode/rescue/case/alice:a.txt"])).toBe("changed");
  },
  LONG,
);
