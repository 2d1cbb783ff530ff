import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer, Conversation, Step } from "../../src/interaction/demo/conversation.ts";
import type { AnswerFunction } from "../../src/interaction/demo/model-server.ts";
import { gitText } from "../../src/platform/git.ts";
import { eventually } from "../support/eventually.ts";
import { type FakeModel, fakeModel } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { startTeam, statusOf } from "../support/running-team.ts";

const LONG = 60_000;
const FILES = { "f.txt": "one\n", ".gitignore": ".env*\n.roocode/config.local.yaml\n" };
const FLAGS = ["-p", "--name", "case", "--backend", "process", "--output-format", "json"];

type Script = { lead: readonly Answer[]; members: Record<string, readonly Answer[]> };

/** Each agent says its answers in order; the last one again and again. */
function saying({ lead, members }: Script): (conversation: Conversation) => Answer {
  return ({ role, rounds }) => {
    const answers = role.type === "worker" ? (members[role.name] ?? []) : lead;
    return answers[rounds] ?? answers.at(-1) ?? { text: "Nothing." };
  };
}

function start(...members: readonly { name: string; prompt?: string; mode?: string }[]): Answer {
  return {
    calls: members.map(({ name, prompt = "Do it." }) => ({ name: "Agent", input: { name, description: "a worker", prompt } })),
  };
}

const bash = (command: string): Answer => ({ calls: [{ name: "Bash", input: { command } }] });
const write = (path: string): Answer => ({ calls: [{ name: "WriteFile", input: { path, content: "changed\n" } }] });

function ofMember(model: FakeModel, name: string): Conversation[] {
  return model.requests.filter(({ role }) => role.type === "worker" && role.name === name);
}

function results(steps: readonly Step[] | undefined): string[] {
  return (steps ?? []).flatMap((step) => (step.type === "call" ? [step.result] : []));
}

const ODD = `-first 'single' "double" \`touch pwned\` $HOME $(touch pwned) \\d+ #{pid}; a\ttab 🦘\n${"line\n".repeat(4_000)}end`;

test(
  "an initial prompt of 20 kB with quotes, $(…) and an emoji arrives byte for byte; a spoken report reaches the lead (T06, T15, M11, P04)",
  async () => {
    const report = `Report: ${"all is well. ".repeat(400)}END`;
    await using model = await fakeModel(
      saying({ lead: [start({ name: "alice", prompt: ODD }), { text: "I wait." }], members: { alice: [{ text: report }] } }),
    );
    await using home = await testHome(FILES);
    const run = await home.roocode(["team", "goal", ...FLAGS], { env: model.env("anthropic"), timeoutMs: LONG });
    expect(run.code, run.stderr).toBe(0);
    const [first] = ofMember(model, "alice")[0]?.steps ?? [];
    expect(first?.type === "words" && first.text.includes(ODD)).toBe(true);
    expect(await readdir(home.repo)).not.toContain("pwned");
    const lead = model.requests.filter(({ role }) => role.type === "lead");
    const told =
      lead
        .at(-1)
        ?.steps.map((step) => (step.type === "words" ? step.text : step.result))
        .join("\n") ?? "";
    expect(told).toMatch(/all is well\. (?:[\s\S]*END|[\s\S]*artifacts)/);
    const tools = model.proxy.captures.map(({ body }) => (JSON.parse(body).tools as { name: string }[]).map((tool) => tool.name));
    expect(tools[0]).not.toContain("EditFile");
    expect(tools.some((names) => names.includes("EditFile"))).toBe(true);
  },
  LONG,
);

test(
  "what a headless teammate would have to ask is denied at once; outside of its worktree nothing is written; rules of primary and user count (P02, P07, W13)",
  async () => {
    await using home = await testHome(FILES);
    await mkdir(join(home.repo, ".roocode"));
    await writeFile(join(home.repo, ".roocode", "config.local.yaml"), "permissions:\n  allow:\n    - Bash(node --version)\n");
    await mkdir(home.data, { recursive: true });
    await writeFile(join(home.data, "config.yaml"), "sandbox: off\npermissions:\n  deny:\n    - Bash(git tag:*)\n");
    await symlink(home.repo, join(home.home, "link"));
    const tries = [
      bash("node --version"),
      bash("git tag x"),
      bash("node -e 1"),
      write(join(home.repo, "f.txt")),
      write(join(home.home, "link", "f.txt")),
    ];
    await using model = await fakeModel(
      saying({ lead: [start({ name: "alice" }), { text: "I wait." }], members: { alice: [...tries, { text: "Enough." }] } }),
    );
    const run = await home.roocode(["team", "goal", ...FLAGS, "--trust"], { env: model.env("anthropic"), timeoutMs: LONG });
    const [version, tag, node, primary, linked] = results(ofMember(model, "alice").at(-1)?.steps);
    expect(version, run.stderr).toContain(process.version);
    expect(tag).toMatch(/den/i);
    expect(node).toMatch(/den|ask|nobody/i);
    for (const refused of [primary, linked]) expect(refused).toMatch(/worktree|outside/i);
    expect(await readFile(join(home.repo, "f.txt"), "utf8")).toBe("one\n");
    expect(await gitText(home.repo, ["tag", "--list"])).toBe("");
  },
  LONG,
);

test(
  "teammates get the lead's mode, the tip of the lead's branch as base, and the ignored files that are named (P01, W01, W10)",
  async () => {
    await using home = await testHome(FILES);
    await writeFile(join(home.repo, ".env"), "KEY=1\n");
    await mkdir(join(home.repo, ".roocode"));
    await writeFile(join(home.repo, ".roocode", "worktree-include"), ".env\n**/.env.local\n");
    await mkdir(join(home.repo, "pkg"));
    await writeFile(join(home.repo, "pkg", ".env.local"), "KEY=2\n");
    await gitText(home.repo, ["switch", "--quiet", "--create", "feature"]);
    await gitText(home.repo, ["commit", "--quiet", "--allow-empty", "--message", "ahead"]);
    const tip = await gitText(home.repo, ["rev-parse", "HEAD"]);
    let later = "";
    const script = saying({
      lead: [start({ name: "alice" }), start({ name: "bob" }), { text: "I wait." }],
      members: { alice: [{ text: "Done." }], bob: [bash("cat .env pkg/.env.local"), { text: "Done." }] },
    });
    const answer: AnswerFunction = async (conversation) => {
      if (conversation.role.type === "lead" && conversation.rounds === 1 && later === "") {
        await gitText(home.repo, ["commit", "--quiet", "--allow-empty", "--message", "later"]);
        later = await gitText(home.repo, ["rev-parse", "HEAD"]);
      }
      return script(conversation);
    };
    await using model = await fakeModel(answer);
    const args = ["team", "goal", ...FLAGS, "--no-merge", "--permission-mode", "bypassPermissions"];
    const run = await home.roocode(args, { env: model.env("anthropic"), timeoutMs: LONG });
    expect(run.code, run.stderr).toBe(0);
    const { members } = await statusOf(home, "case");
    expect(members.map(({ name, baseCommit, permissionMode }) => [name, baseCommit, permissionMode])).toEqual([
      ["alice", tip, "bypassPermissions"],
      ["bob", later, "bypassPermissions"],
    ]);
    for (const { worktree } of members) expect(await readFile(join(worktree, ".env"), "utf8")).toBe("KEY=1\n");
    for (const { worktree } of members) expect(await readFile(join(worktree, "pkg", ".env.local"), "utf8")).toBe("KEY=2\n");
  },
  LONG,
);

test(
  "a teammate whose server stays overloaded and one whose key is refused are failed, with the words; the task of the first is back, the third goes on (L07)",
  async () => {
    const script = saying({
      lead: [
        { calls: [{ name: "TaskCreate", input: { subject: "Write a", description: "a" } }] },
        start({ name: "alice" }, { name: "bob" }, { name: "carol" }),
        { text: "I wait." },
      ],
      members: {
        alice: [{ calls: [{ name: "TaskUpdate", input: { taskId: "1", owner: "alice", status: "in_progress" } }] }],
        carol: [write("c.txt"), { text: "Carol is done." }],
      },
    });
    const overloaded = JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
    await using model = await fakeModel(
      (conversation) => {
        const isBob = conversation.role.type === "worker" && conversation.role.name === "bob";
        return isBob ? { status: 401, message: "invalid x-api-key" } : script(conversation);
      },
      {
        play: ({ body }) =>
          body.includes("You are alice, a teammate") && body.includes('"in_progress"}')
            ? { status: 529, headers: { "content-type": "application/json", "retry-after": "0" }, body: overloaded }
            : undefined,
      },
    );
    await using home = await testHome(FILES);
    const run = await home.roocode(["team", "goal", ...FLAGS, "--no-merge"], { env: model.env("anthropic"), timeoutMs: LONG });
    const lead = model.requests.filter(({ role }) => role.type === "lead").at(-1);
    const told = lead?.steps.map((step) => (step.type === "words" ? step.text : step.result)).join("\n") ?? "";
    expect(told, run.stderr).toMatch(/from="alice"[^>]*failed[\s\S]*Overloaded/);
    expect(told).toMatch(/from="bob"[^>]*failed[\s\S]*invalid x-api-key/);
    expect(told).toContain("Carol is done.");
    expect(await gitText(home.repo, ["show", "worktree-team-case+carol:c.txt"])).toBe("changed");
    const { tasks, members } = await statusOf(home, "case");
    expect(told).toMatch(/Overloaded[^\n]*Back on the list: 1 \(Write a\)/);
    expect(tasks).toMatchObject([{ status: "pending", attempts: 2, note: expect.stringContaining("Overloaded") }]);
    expect(members.map(({ name }) => name).sort()).toEqual(["alice", "bob", "carol"]);
  },
  LONG,
);

test(
  "a message to a busy teammate is in its very next request; a second start of it is refused with its pid (M09, L05)",
  async () => {
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const script = saying({
      lead: [start({ name: "alice" }), { text: "I wait." }],
      members: { alice: [bash("git status"), bash("git log"), { text: "Done." }] },
    });
    await using model = await fakeModel(async (conversation) => {
      if (conversation.role.type === "worker" && conversation.rounds === 1) await held;
      return script(conversation);
    });
    await using home = await testHome(FILES);
    await using run = startTeam(home, ["goal", ...FLAGS], model.env("anthropic"));
    await eventually(() => ofMember(model, "alice").length === 2, LONG);
    const sent = await home.roocode(["team", "send", "case", "alice", "use library X"]);
    expect(sent).toMatchObject({ code: 0, stdout: "Delivered to alice, who is busy.\n" });
    const unread = await statusOf(home, "case");
    expect(unread.members).toMatchObject([{ name: "alice", unread: 1 }]);
    expect(unread.mail).toMatchObject([{ from: "lead", to: "alice", summary: "use library X", state: "delivered" }]);
    const second = await home.roocode(["worker", "--team", "case", "--name", "alice"], { env: model.env("anthropic") });
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(/alice lives already \(pid \d+/);
    go();
    expect((await run.ended).code, run.output()).toBe(0);
    expect(results(ofMember(model, "alice")[2]?.steps).at(-1)).toContain("use library X");
  },
  LONG,
);

test(
  "twelve teammates in one turn: twelve worktrees and branches, nothing left at the end (W03)",
  async () => {
    const names = Array.from({ length: 12 }, (_, index) => `w${index + 1}`);
    await using model = await fakeModel(
      saying({
        lead: [start(...names.map((name) => ({ name }))), { text: "I wait." }],
        members: Object.fromEntries(names.map((name) => [name, [{ text: `${name} is done.` }]])),
      }),
    );
    await using home = await testHome(FILES);
    await gitText(home.repo, ["config", "branch.autoSetupMerge", "always"]);
    const run = await home.roocode(["team", "goal", ...FLAGS, "--teammates", "12"], { env: model.env("anthropic"), timeoutMs: LONG });
    expect(run.code, run.stderr).toBe(0);
    expect(new Set(run.stderr.match(/w\d+ is ready/g)).size).toBe(12);
    expect(await gitText(home.repo, ["branch", "--format=%(refname:short)"])).toBe("main");
    expect((await gitText(home.repo, ["worktree", "list"])).split("\n")).toHaveLength(1);
    expect(await gitText(home.repo, ["config", "--get-regexp", "^branch\\."])).toBe("branch.autosetupmerge always");
  },
  LONG,
);

test(
  "tmux that is asked for and not there is an error with a remedy; auto says what it took and why, in the status too (T13)",
  async () => {
    await using home = await testHome(FILES);
    const path = join(home.home, "bin");
    await mkdir(path);
    for (const name of ["git", "bash", "node"]) {
      const from = await which(name);
      await symlink(from, join(path, name));
    }
    await using model = await fakeModel(saying({ lead: [start({ name: "alice" }), { text: "I wait." }], members: {} }));
    const env = { ...model.env("anthropic"), PATH: path };
    const asked = await home.roocode(["team", "goal", "-p", "--backend", "tmux"], { env });
    expect(asked).toMatchObject({ code: 2, stdout: "" });
    expect(asked.stderr).toMatch(/tmux.*(install|--backend)/i);
    const auto = await home.roocode(["team", "goal", "-p", "--name", "case", "--no-merge"], { env, timeoutMs: LONG });
    expect(auto.stderr).toMatch(/backend process: /);
    expect((await statusOf(home, "case")).backend).toMatchObject({ kind: "process" });
  },
  LONG,
);

async function which(program: string): Promise<string> {
  for (const folder of (process.env.PATH ?? "").split(":"))
    if ((await readdir(folder).catch((): string[] => [])).includes(program)) return join(folder, program);
  throw new Error(`${program} is not on PATH.`);
}
