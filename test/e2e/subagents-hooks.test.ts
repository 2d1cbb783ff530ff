import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Answer, type Conversation, calls } from "../../src/interaction/demo/conversation.ts";
import { type FakeModel, fakeModel } from "../support/fake-model.ts";
import { type Finished, type TestHome, testHome } from "../support/home.ts";

function said({ steps }: Pick<Conversation, "steps">): string {
  return steps.flatMap((step) => (step.type === "words" && step.from === "user" ? [step.text] : [])).join("\n");
}

/** Starts one sub-agent, and answers with its result. */
const delegate =
  (input: Record<string, unknown>, child: (conversation: Conversation) => Answer) =>
  (conversation: Conversation): Answer => {
    if (said(conversation).includes("TASK")) return child(conversation);
    const [call] = calls(conversation.steps, "Agent");
    return call ? { text: call.result } : { calls: [{ name: "Agent", input: { description: "a piece of work", ...input } }] };
  };

async function hooks(home: TestHome, entries: readonly object[]): Promise<void> {
  await mkdir(home.data, { recursive: true });
  // JSON is YAML.
  await writeFile(join(home.data, "config.yaml"), JSON.stringify({ hooks: entries }));
}

const command = (text: string) => ({ type: "command", command: text });
// One write a line: hooks of one event run beside each other.
const LOGS = command(`printf '%s\\n' "$(cat)" >> "$HOME/log"`);

function print(home: TestHome, model: FakeModel, ...args: string[]): Promise<Finished> {
  return home.roocode(["-p", "go", "--permission-mode", "bypassPermissions", ...args], { env: model.env("anthropic") });
}

async function logged(home: TestHome): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(home.home, "log"), "utf8");
  return text
    .trim()
    .split(/\n+/)
    .map((line) => JSON.parse(line));
}

describe("hooks of sub-agents", () => {
  test.each<[string, { prompt: string; subagent_type?: string; run_in_background?: boolean }]>([
    ["a defined one", { prompt: "TASK: write", subagent_type: "general-purpose" }],
    ["one in the background", { prompt: "TASK: write", subagent_type: "general-purpose", run_in_background: true }],
    ["a fork", { prompt: "TASK: write" }],
  ])("K-03: a hook that refuses holds in a sub-agent, %s, and hears in whose name it is asked", async (_which, input) => {
    await using model = await fakeModel(
      delegate(input, ({ steps }) => {
        const [written] = calls(steps, "WriteFile");
        return written
          ? { text: `It said: ${written.result}` }
          : { calls: [{ name: "WriteFile", input: { path: "made.txt", content: "x\n" } }] };
      }),
    );
    await using home = await testHome();
    await hooks(home, [{ event: "PreToolUse", if: 'tool == "Write"', action: command('cat >> "$HOME/log"; echo closed >&2; exit 2') }]);
    expect(await print(home, model)).toMatchObject({ code: 0 });
    expect(existsSync(join(home.repo, "made.txt"))).toBe(false);
    expect(model.proxy.captures.some(({ body }) => body.includes("a hook refused this call. closed"))).toBe(true);
    const type = input.subagent_type ?? "fork";
    expect(await logged(home)).toEqual([
      expect.objectContaining({
        tool: "WriteFile",
        agent: expect.stringMatching(new RegExp(`^${type} agent-[0-9a-f]{6}$`)),
        agent_type: type,
        session_id: expect.stringMatching(/^agent-/),
      }),
    ]);
  });

  test("worktree_created: the one who starts it hears of the place, and its own events tell where it works", async () => {
    await using model = await fakeModel(
      delegate({ prompt: "TASK: look", subagent_type: "general-purpose", isolation: "worktree" }, () => ({ text: "Seen." })),
    );
    await using home = await testHome();
    await hooks(
      home,
      ["worktree_created", "subagent_start"].map((event) => ({ event, action: LOGS })),
    );
    expect(await print(home, model)).toMatchObject({ code: 0 });
    const [made, started] = await logged(home);
    expect(made).toMatchObject({
      event: "worktree_created",
      agent: "main",
      branch: expect.stringMatching(/^worktree-agent-[0-9a-f]{6}$/),
    });
    expect(started).toMatchObject({
      event: "subagent_start",
      agent_type: "general-purpose",
      worktree: made?.worktree,
      prompt: "TASK: look",
    });
  });

  test("agent: a hook of the very start has one asked too; what that does asks no further one", async () => {
    await using model = await fakeModel((conversation) => {
      const { steps } = conversation;
      if (!said(conversation).includes("TASK")) {
        const [list] = calls(steps, "TaskList");
        if (!list) return { calls: [{ name: "TaskList", input: {} }] };
        return { text: said(conversation).includes("the tests are red") ? list.result : "Nothing." };
      }
      return calls(steps, "ReadFile").length === 0
        ? { calls: [{ name: "ReadFile", input: { path: "README.md" } }] }
        : { text: "the tests are red" };
    });
    await using home = await testHome();
    const asks = { type: "agent", prompt: "TASK of $AGENT", description: "looks at the tests" };
    await hooks(home, [
      { event: "session_start", action: asks },
      { event: "pre_tool_use", action: asks },
    ]);
    const run = await print(home, model);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    // It is one of the session's tasks, and so is the one of the hook before this very call.
    expect(run.stdout.match(/"status":"completed","subject":"looks at the tests","owner":"general-purpose"/g)).toHaveLength(2);
    expect(model.proxy.captures).toHaveLength(6);
    expect(model.proxy.captures[0]?.body).toContain("TASK of main");
  });
});
