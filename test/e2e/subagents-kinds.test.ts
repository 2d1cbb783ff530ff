import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Answer, type Conversation, calls } from "../../src/interaction/demo/conversation.ts";
import { gitText } from "../../src/platform/git.ts";
import { type FakeModel, fakeModel } from "../support/fake-model.ts";
import { type TestHome, testHome } from "../support/home.ts";

const BYPASS = ["--permission-mode", "bypassPermissions"];

function said({ steps }: Pick<Conversation, "steps">): string {
  return steps.flatMap((step) => (step.type === "words" && step.from === "user" ? [step.text] : [])).join("\n");
}

/** Starts one sub-agent, which makes these calls and reports what came of them; answers with what it was told. */
const delegate =
  (input: Record<string, unknown>, own: NonNullable<Answer["calls"]>, first?: Answer) =>
  (conversation: Conversation): Answer => {
    const { steps } = conversation;
    const words = said(conversation);
    const news = words.includes("<task-notification") ? /<task-notification[\s\S]*/.exec(words)?.[0] : undefined;
    const started = calls(steps, "Agent");
    if (news !== undefined) return { text: news };
    if (words.includes("TASK")) {
      const made = steps.slice(steps.findIndex((step) => step.type === "words" && step.text.includes("TASK")));
      const done = own.every(({ name, input: given }) =>
        calls(made, name).some((call) => JSON.stringify(call.input) === JSON.stringify(given)),
      );
      return done
        ? { text: made.flatMap((step) => (step.type === "call" ? [`${step.name}: ${step.result}`] : [])).join("\n") }
        : { calls: own };
    }
    if (first && steps.every((step) => step.type === "words")) return first;
    return started[0]
      ? { text: started[0].result }
      : { calls: [{ name: "Agent", input: { description: "a piece of work", prompt: "TASK", ...input } }] };
  };

const write = (path: string) => ({ name: "WriteFile", input: { path, content: "x\n" } });

function toolsOf(model: FakeModel, mark: string): string[] {
  const body = model.proxy.captures.find((capture) => capture.body.includes(mark))?.body ?? "{}";
  const { tools = [] }: { tools?: { name: string }[] } = JSON.parse(body);
  return tools.map(({ name }) => name);
}

async function define(home: TestHome, name: string, head: string): Promise<void> {
  const folder = join(home.data, "agents");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.md`), `---\nname: ${name}\ndescription: d\n${head}\n---\nYou are ${name}.\n`);
}

describe("kinds of sub-agents", () => {
  test.each(["Explore", "Plan"])("%s has no tool that changes a file, and is refused when it calls one all the same", async (type) => {
    const own = [write("made.txt"), { name: "EditFile", input: { path: "README.md", old_string: "a", new_string: "b" } }];
    await using model = await fakeModel(delegate({ subagent_type: type }, own));
    await using home = await testHome();
    const { stdout } = await home.roocode(["-p", "go", ...BYPASS], { env: model.env("anthropic") });
    expect(stdout).toContain("WriteFile: ");
    expect(await gitText(home.repo, ["status", "--porcelain"])).toBe("");
    const mark = type === "Explore" ? "You explore a code base" : "You design a change";
    for (const name of ["WriteFile", "EditFile", "Agent", "AskUserQuestion", "ExitPlanMode", "TaskStop"])
      expect(toolsOf(model, mark)).not.toContain(name);
    expect(toolsOf(model, mark)).toEqual(expect.arrayContaining(["ReadFile", "Grep", "Glob", "Bash"]));
  });

  test("general-purpose works with all that a sub-agent may have", async () => {
    await using model = await fakeModel(delegate({ subagent_type: "general-purpose" }, [write("made.txt")]));
    await using home = await testHome();
    await home.roocode(["-p", "go", ...BYPASS], { env: model.env("anthropic") });
    expect(existsSync(join(home.repo, "made.txt"))).toBe(true);
    expect(toolsOf(model, "You do a piece of work")).toEqual(expect.arrayContaining(["WriteFile", "EditFile", "Bash", "TaskCreate"]));
  });

  test("Verification is there once the settings say so: it works in the background and changes no file", async () => {
    await using model = await fakeModel(delegate({ subagent_type: "Verification" }, [write("made.txt")]));
    await using home = await testHome();
    const env = model.env("anthropic");
    const off = await home.roocode(["-p", "go", ...BYPASS], { env });
    expect(off.stdout).toContain('There is no agent type "Verification". Types: Explore, Plan, general-purpose.');
    expect(model.proxy.captures[0]?.body).not.toContain("Verification");
    await mkdir(home.data, { recursive: true });
    await writeFile(join(home.data, "config.yaml"), "enableVerificationAgent: true\n");
    const before = model.proxy.captures.length;
    const on = await home.roocode(["-p", "go", ...BYPASS], { env });
    expect(model.proxy.captures[before]?.body).toContain("Type Verification tries to break");
    expect(on.stdout).toMatch(/<task-notification task="[^"]+" type="Verification" status="completed">/);
    expect(existsSync(join(home.repo, "made.txt"))).toBe(false);
    expect(toolsOf(model, "You verify work")).toContain("Bash");
    expect(toolsOf(model, "You verify work")).not.toContain("WriteFile");
  });

  test("a name that takes away takes all it may mean, at the call too; one that grants its namesake alone", async () => {
    await using home = await testHome();
    await define(home, "reader", "disallowedTools: [Agent, Edit, NotebookEdit, Bash]");
    await define(home, "editor", "tools: [Read, Edit]");
    const env = (model: FakeModel) => ({ env: model.env("openai") });
    for (const type of ["reader", "editor"]) {
      await using model = await fakeModel(
        delegate({ subagent_type: type }, [write("made.txt"), { name: "Bash", input: { command: "touch made2.txt" } }]),
      );
      await home.roocode(["-p", "go", ...BYPASS], env(model));
      expect(await gitText(home.repo, ["status", "--porcelain"])).toBe("");
    }
  });

  test("of the user's own kinds dontAsk allows every call of the tools that are left, without a person", async () => {
    await using home = await testHome();
    await define(home, "doer", "permissionMode: dontAsk\ndisallowedTools: Bash");
    await using model = await fakeModel(delegate({ subagent_type: "doer" }, [write("made.txt")]));
    await home.roocode(["-p", "go"], { env: model.env("anthropic") });
    expect(existsSync(join(home.repo, "made.txt"))).toBe(true);
  });

  test("a fork in a worktree of its own is told its place, and what it writes is on its branch", async () => {
    await using model = await fakeModel(delegate({ isolation: "worktree" }, [write("made.txt")]));
    await using home = await testHome();
    const { stdout } = await home.roocode(["-p", "go", ...BYPASS], { env: model.env("anthropic") });
    const branch = /Branch (worktree-agent-[0-9a-f]{6}): 1 commit/.exec(stdout)?.[1] ?? "";
    expect(await gitText(home.repo, ["show", `${branch}:made.txt`])).toBe("x");
    expect(existsSync(join(home.repo, "made.txt"))).toBe(false);
    const fork = model.proxy.captures.find(({ body }) => body.includes("You are a fork now"))?.body;
    expect(fork).toMatch(new RegExp(`From here on your working folder is [^ ]+${branch.replace("worktree-", "")}:`));
  });

  test("a fork reads a large result of its parent's without a question", async () => {
    let path = "";
    const own = (): NonNullable<Answer["calls"]> => [{ name: "ReadFile", input: { path, offset: 2, limit: 1 } }];
    await using model = await fakeModel((conversation) => {
      path ||= /\/\S+\.results\/[^\s"\]:]+/.exec(JSON.stringify(conversation.steps))?.[0] ?? "";
      return delegate({}, own(), { calls: [{ name: "Bash", input: { command: "seq 100000" } }] })(conversation);
    });
    await using home = await testHome();
    const { stdout } = await home.roocode(["-p", "go"], { env: model.env("anthropic") });
    expect(path).not.toBe("");
    expect(stdout).toMatch(/ReadFile: .*\b2\b/);
    expect(stdout).not.toContain("Permission denied");
  });

  test("a fork may change what its parent has read, others read it first", async () => {
    for (const [type, isChanged] of [
      [undefined, true],
      ["general-purpose", false],
    ] as const) {
      const own = [{ name: "EditFile", input: { path: "f.txt", old_string: "one", new_string: "two" } }];
      await using model = await fakeModel(
        delegate(type === undefined ? {} : { subagent_type: type }, own, { calls: [{ name: "ReadFile", input: { path: "f.txt" } }] }),
      );
      await using home = await testHome({ "f.txt": "one\n" });
      await home.roocode(["-p", "go", ...BYPASS], { env: model.env("anthropic") });
      expect(await readFile(join(home.repo, "f.txt"), "utf8")).toBe(isChanged ? "two\n" : "one\n");
    }
  });

  test("at most 16 run at once and one has a name, also when calls of one answer start them", async () => {
    let results: string[] = [];
    await using model = await fakeModel((conversation) => {
      const { steps } = conversation;
      if (said(conversation).includes("TASK")) return { calls: [{ name: "Bash", input: { command: "sleep 30" } }] };
      results = calls(steps, "Agent").map(({ result }) => result);
      if (results.length > 0) {
        const ids = results.flatMap((result) => /agent-[0-9a-f]{6}/.exec(result) ?? []);
        return calls(steps, "TaskStop").length > 0
          ? { text: "ok" }
          : { calls: ids.map((id) => ({ name: "TaskStop", input: { task_id: id } })) };
      }
      const input = { description: "d", prompt: "TASK", subagent_type: "general-purpose", run_in_background: true };
      return {
        calls: Array.from({ length: 19 }, (_, index) => ({ name: "Agent", input: { ...input, name: index < 2 ? "same" : `a${index}` } })),
      };
    });
    await using home = await testHome();
    expect(await home.roocode(["-p", "go", ...BYPASS], { env: model.env("anthropic") })).toMatchObject({ code: 0, stdout: "ok\n" });
    expect(results.filter((result) => result.includes("async_launched"))).toHaveLength(16);
    expect(results.filter((result) => result.includes("16 sub-agents run already"))).toHaveLength(2);
    expect(results[1]).toMatch(/same/);
  });

  test("in plan mode a sub-agent is told to look only, changes nothing, and can't end it", async () => {
    await using model = await fakeModel(delegate({ subagent_type: "general-purpose" }, [write("made.txt")]));
    await using home = await testHome();
    const { stdout } = await home.roocode(["-p", "go", "--permission-mode", "plan"], { env: model.env("anthropic") });
    expect(stdout).toContain("WriteFile: Permission denied");
    expect(existsSync(join(home.repo, "made.txt"))).toBe(false);
    const child = model.proxy.captures.find(({ body }) => body.includes("You do a piece of work"))?.body;
    expect(child).toContain("Plan mode is on: the person has approved nothing yet");
    expect(toolsOf(model, "You do a piece of work")).not.toContain("ExitPlanMode");
  });

  test("one that ends without a word: its caller is told that nothing is known", async () => {
    await using model = await fakeModel(({ steps }) => {
      if (steps.some((step) => step.type === "words" && step.text.includes("TASK"))) return { text: "" };
      const [call] = calls(steps, "Agent");
      return call
        ? { text: `Told: ${call.result}` }
        : { calls: [{ name: "Agent", input: { description: "a look", prompt: "TASK", subagent_type: "general-purpose" } }] };
    });
    await using home = await testHome();
    const { stdout } = await home.roocode(["-p", "go"], { env: model.env("anthropic") });
    expect(stdout).toContain("Told: [It ended without a word: what it did or found is not known]");
  });

  test("a kind whose own mode is plan is told to look only, whatever its caller's mode is", async () => {
    await using model = await fakeModel(delegate({ subagent_type: "planner" }, [write("made.txt")]));
    await using home = await testHome();
    await mkdir(join(home.data, "agents"), { recursive: true });
    await writeFile(
      join(home.data, "agents", "planner.md"),
      "---\nname: planner\ndescription: Plans\npermissionMode: plan\n---\nYou only plan.\n",
    );
    await home.roocode(["-p", "go", "--permission-mode", "bypassPermissions"], { env: model.env("anthropic") });
    expect(existsSync(join(home.repo, "made.txt"))).toBe(false);
    const child = model.proxy.captures.find(({ body }) => body.includes("You only plan"))?.body;
    expect(child).toContain("Plan mode is on: the person has approved nothing yet");
  });
});
