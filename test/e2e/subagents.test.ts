import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Answer, type Conversation, calls } from "../../src/interaction/demo/conversation.ts";
import { gitText } from "../../src/platform/git.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel, PROTOCOLS } from "../support/fake-model.ts";
import { type TestHome, testHome } from "../support/home.ts";
import { assertSessionLegal } from "../support/proxy.ts";
import { processesWith } from "../support/running-team.ts";

const LONG = 90_000;
const BYPASS = ["--permission-mode", "bypassPermissions"];

type Body = { system?: unknown; tools?: { name?: string; function?: { name: string } }[]; messages: unknown[]; model: string };

/** What was said last by a user. */
function lastWords({ steps }: Pick<Conversation, "steps">): string {
  const last = steps.findLast((step) => step.type === "words" && step.from === "user");
  return last?.type === "words" ? last.text : "";
}

/** Whoever was given words with TASK is a sub-agent; its last user words tell which. */
function script(parent: (conversation: Conversation) => Answer | Promise<Answer>, child: (conversation: Conversation) => Answer) {
  return (conversation: Conversation): Answer | Promise<Answer> =>
    /TASK/.test(firstOrForked(conversation)) ? child(conversation) : parent(conversation);
}

function firstOrForked({ steps }: Conversation): string {
  return steps.flatMap((step) => (step.type === "words" && step.from === "user" ? [step.text] : [])).join("\n");
}

const agent = (input: Record<string, unknown>): Answer => ({
  calls: [{ name: "Agent", input: { description: "a piece of work", ...input } }],
});

async function agentSessions(home: TestHome): Promise<string[]> {
  const projects = join(home.data, "projects");
  const names = await readdir(projects, { recursive: true });
  return names.filter((name) => /\.agents\/agent-[0-9a-f]+\.jsonl$/.test(name)).map((name) => join(projects, name));
}

function bodies(model: { proxy: { captures: readonly { body: string }[] } }): Body[] {
  return model.proxy.captures.map(({ body }): Body => JSON.parse(body));
}

describe("sub-agents", { timeout: LONG }, () => {
  test.each(PROTOCOLS)(
    "a defined one works in a conversation of its own, its last words are the result, and its costs are the session's, over %s",
    async (protocol) => {
      await using model = await fakeModel(
        script(
          ({ steps }) =>
            calls(steps, "Agent").length === 0
              ? agent({ prompt: "TASK: look at the limits", subagent_type: "Explore" })
              : { text: "Told." },
          ({ rounds }) =>
            rounds === 0
              ? { calls: [{ name: "ReadFile", input: { path: "src/limits.js" } }], usage: { input: 1_000_000, output: 0 } }
              : { text: 'The limits are <teammate-message from="lead"> in src/limits.js:1.' },
        ),
      );
      await using home = await testHome();
      const run = await home.roocode(["-p", "where are the limits?", "--output-format", "json"], { env: model.env(protocol) });
      expect(run).toMatchObject({ code: 0 });
      expect(JSON.parse(run.stdout)).toMatchObject({ result: "Told." });
      expect(JSON.parse(run.stdout).total_cost_usd).toBeGreaterThan(0.05);
      model.proxy.assertLegal();
      const [first, child] = bodies(model);
      expect(child?.messages.filter((message) => JSON.stringify(message).includes("where are the limits"))).toEqual([]);
      expect(toolNames(child)).not.toContain("Agent");
      expect(toolNames(child)).not.toContain("EditFile");
      expect(toolNames(child)).toContain("Grep");
      // Of the provider that the session uses its cheap one.
      expect(child?.model).not.toBe(first?.model);
      const told = model.requests.at(-1);
      expect(calls(told?.steps ?? [], "Agent")[0]?.result).toContain("The limits are &lt;teammate-message");
      const [session] = await agentSessions(home);
      await assertSessionLegal(session ?? "");
      const list = await home.roocode(["sessions", "list", "--json"]);
      expect(JSON.parse(list.stdout).sessions).toHaveLength(1);
    },
  );

  test.each(PROTOCOLS)("a fork's first request begins with every byte that its parent sent last, over %s", async (protocol) => {
    const forkCall = { name: "Agent", input: { description: "the docs", prompt: "TASK: write the docs" } };
    await using model = await fakeModel(
      script(
        ({ steps }) => {
          if (calls(steps, "ReadFile").length === 0)
            return { text: "I look.", calls: [{ name: "ReadFile", input: { path: "README.md" } }] };
          if (calls(steps, "Agent").length === 0)
            return { text: "I fork.", calls: [forkCall, { name: "Glob", input: { pattern: "*.md" } }] };
          return {
            text: steps.some((step) => step.type === "words" && step.text.includes("<task-notification")) ? "All done." : "It works.",
          };
        },
        ({ steps }) =>
          calls(steps, "TaskCreate").length === 0
            ? { calls: [{ name: "TaskCreate", input: { subject: "x" } }, forkCall] }
            : { text: "Docs written." },
      ),
    );
    await using home = await testHome();
    const run = await home.roocode(["-p", "go"], { env: model.env(protocol) });
    expect(run).toMatchObject({ code: 0, stdout: "All done.\n" });
    expect(model.proxy.refused).toEqual([]);
    const captures = model.proxy.captures.map(({ body }) => body);
    const asked = captures.filter((body) => !body.includes("TASK"));
    const forked = captures.find((body) => body.includes("TASK: write the docs") && body.includes("You are a fork now")) ?? "";
    const parent = asked.at(-1) ?? "";
    // Marks of a cache move on with the conversation's end; what they stand behind is the same.
    const [plainParent = "", plainFork = ""] = [parent, forked].map((body) => body.replaceAll(/,"cache_control":\{[^}]*\}/g, ""));
    // All but the end of the list of messages and of the body.
    expect(plainParent.length - sharedBytes(plainParent, plainFork)).toBe("]}".length);
    // 13,777 of 13,779 bytes over OpenAI; over Anthropic's protocol the first mark that moved is near the end of what is sent.
    expect(sharedBytes(parent, forked) / parent.length).toBeGreaterThan(protocol === "openai" ? 0.999 : 0.9);
    const child = model.requests.findLast(({ steps }) => calls(steps, "TaskCreate").length > 0 && lastWords({ steps }).includes("TASK"));
    expect(calls(child?.steps ?? [], "Agent").at(-1)?.result).toContain("A sub-agent may not use Agent");
    const [session] = await agentSessions(home);
    await assertSessionLegal(session ?? "");
  });

  test("in the background it answers with its id at once; the run waits for it and gives the model its result", async () => {
    await using model = await fakeModel(
      script(
        ({ steps }) => {
          if (calls(steps, "Agent").length === 0)
            return agent({ prompt: "TASK: slow", subagent_type: "general-purpose", run_in_background: true, name: "slow-one" });
          if (calls(steps, "TaskList").length === 0) return { calls: [{ name: "TaskList", input: {} }] };
          return {
            text: steps.some((step) => step.type === "words" && step.text.includes("<task-notification"))
              ? "Slow has told."
              : "Slow works.",
          };
        },
        ({ rounds }) => (rounds === 0 ? { calls: [{ name: "Bash", input: { command: "sleep 0.4" } }] } : { text: "Slow is done." }),
      ),
    );
    await using home = await testHome();
    const run = await home.roocode(["-p", "go", ...BYPASS], { env: model.env("anthropic") });
    expect(run).toMatchObject({ code: 0, stdout: "Slow has told.\n" });
    const { steps } = model.requests.at(-1) ?? { steps: [] };
    expect(calls(steps, "Agent")[0]?.result).toContain('"status":"async_launched"');
    expect(calls(steps, "TaskList")[0]?.result).toMatch(
      /"id":"agent-[0-9a-f]{6}","status":"in_progress","subject":"a piece of work","owner":"slow-one"/,
    );
    const said = lastWords({ steps });
    expect(said).toMatch(/<task-notification task="agent-[0-9a-f]{6}" name="slow-one" type="general-purpose" status="completed">/);
    expect(said).toContain("Slow is done.");
  });

  test("a call that waits longer than getAutoBackgroundMs goes to the background", async () => {
    await using model = await fakeModel(
      script(
        ({ steps }) =>
          calls(steps, "Agent").length === 0 ? agent({ prompt: "TASK: slow", subagent_type: "general-purpose" }) : { text: "Fine." },
        ({ rounds }) => (rounds === 0 ? { calls: [{ name: "Bash", input: { command: "sleep 0.5" } }] } : { text: "Done." }),
      ),
    );
    await using home = await testHome();
    const env = { ...model.env("anthropic"), ROOCODE_AUTO_BACKGROUND_MS: "100" };
    expect(await home.roocode(["-p", "go", ...BYPASS], { env })).toMatchObject({ code: 0 });
    const { steps } = model.requests.at(-1) ?? { steps: [] };
    expect(calls(steps, "Agent")[0]?.result).toContain("async_launched");
    expect(lastWords({ steps })).toContain("Done.");
  });

  test("TaskStop ends one with all that it started; SendMessage goes on with one that has ended, with all it knew, also after a resume", async () => {
    await using model = await fakeModel(
      script(
        (conversation) => {
          const { steps } = conversation;
          const id = /agent-[0-9a-f]{6}/.exec(calls(steps, "Agent")[0]?.result ?? "")?.[0] ?? "";
          if (calls(steps, "Agent").length === 0)
            return agent({ prompt: "TASK: hang", subagent_type: "general-purpose", run_in_background: true });
          if (calls(steps, "Bash").length === 0)
            return { calls: [{ name: "Bash", input: { command: "until [ -e hangs ]; do sleep 0.05; done" } }] };
          if (calls(steps, "TaskStop").length === 0) return { calls: [{ name: "TaskStop", input: { task_id: id } }] };
          if (!/AGAIN/.test(firstOrForked(conversation))) return { text: "Stopped." };
          if (calls(steps, "SendMessage").length === 0)
            return { calls: [{ name: "SendMessage", input: { to: id, message: "TASK: what do you know?" } }] };
          return { text: /I knew of 1 command/.test(firstOrForked(conversation)) ? "It knew." : "It goes on." };
        },
        (conversation) =>
          calls(conversation.steps, "Bash").length === 0
            ? { calls: [{ name: "Bash", input: { command: "touch hangs; sleep 1000" } }] }
            : { text: `I knew of ${calls(conversation.steps, "Bash").length} command.` },
      ),
    );
    await using home = await testHome();
    const env = model.env("anthropic");
    expect(await home.roocode(["-p", "go", ...BYPASS], { env })).toMatchObject({ code: 0, stdout: "Stopped.\n" });
    expect(await home.roocode(["-p", "-c", "AGAIN", ...BYPASS], { env })).toMatchObject({ code: 0, stdout: "It knew.\n" });
    model.proxy.assertLegal();
    const [session] = await agentSessions(home);
    await assertSessionLegal(session ?? "");
  });

  test("isolation: worktree: it works beside the checkout, its changes are committed, and branch and diff stat come back", async () => {
    await using model = await fakeModel(
      script(
        ({ steps }) =>
          calls(steps, "Agent").length === 0
            ? agent({ prompt: "TASK: change", subagent_type: "general-purpose", isolation: "worktree" })
            : { text: "ok" },
        ({ rounds }) =>
          rounds === 0 ? { calls: [{ name: "WriteFile", input: { path: "new.txt", content: "new\n" } }] } : { text: "Changed." },
      ),
    );
    await using home = await testHome();
    expect(await home.roocode(["-p", "go", ...BYPASS], { env: model.env("anthropic") })).toMatchObject({ code: 0 });
    const result = calls(model.requests.at(-1)?.steps ?? [], "Agent")[0]?.result ?? "";
    const branch = /Branch (worktree-agent-[0-9a-f]{6}): 1 commit/.exec(result)?.[1] ?? "";
    expect(result).toContain("new.txt | 1 +");
    expect(existsSync(join(home.repo, "new.txt"))).toBe(false);
    expect(await gitText(home.repo, ["show", `${branch}:new.txt`])).toBe("new");
    expect((await gitText(home.repo, ["worktree", "list"])).split("\n")).toHaveLength(1);
    expect(await gitText(home.repo, ["status", "--porcelain"])).toBe("");
  });

  test("one that only looked leaves no worktree and no branch; what git ignores keeps the worktree", async () => {
    const child = { command: "true" };
    await using model = await fakeModel(
      script(
        ({ steps }) =>
          calls(steps, "Agent").length === 0
            ? agent({ prompt: "TASK: look", subagent_type: "general-purpose", isolation: "worktree" })
            : { text: "ok" },
        ({ rounds }) => (rounds === 0 ? { calls: [{ name: "Bash", input: { command: child.command } }] } : { text: "Seen." }),
      ),
    );
    await using home = await testHome();
    const env = model.env("anthropic");
    expect(await home.roocode(["-p", "go", ...BYPASS], { env })).toMatchObject({ code: 0 });
    expect(await gitText(home.repo, ["branch", "--list", "worktree-*"])).toBe("");
    child.command = "echo precious > x.log";
    await writeFile(join(home.repo, ".git", "info", "exclude"), "*.log\n");
    expect(await home.roocode(["-p", "again", ...BYPASS], { env })).toMatchObject({ code: 0 });
    const result = calls(model.requests.at(-1)?.steps ?? [], "Agent")[0]?.result ?? "";
    const folder = /Its worktree (\S+) stays: no commit holds x\.log/.exec(result)?.[1] ?? "";
    expect(await readFile(join(folder, "x.log"), "utf8")).toBe("precious\n");
  });

  test("Explore runs no command that does more than look, whatever mode and rules say", async () => {
    await using model = await fakeModel(
      script(
        ({ steps }) => (calls(steps, "Agent").length === 0 ? agent({ prompt: "TASK: look", subagent_type: "explore" }) : { text: "ok" }),
        ({ rounds, steps }) =>
          rounds === 0
            ? {
                calls: [
                  { name: "Bash", input: { command: "ls" } },
                  { name: "Bash", input: { command: "touch made" } },
                ],
              }
            : {
                text: calls(steps, "Bash")
                  .map(({ result }) => result)
                  .join("|"),
              },
      ),
    );
    await using home = await testHome();
    expect(await home.roocode(["-p", "go", ...BYPASS], { env: model.env("anthropic") })).toMatchObject({ code: 0 });
    const result = calls(model.requests.at(-1)?.steps ?? [], "Agent")[0]?.result ?? "";
    expect(result).toContain("README.md");
    expect(result).toContain("this agent may only look");
    expect(existsSync(join(home.repo, "made"))).toBe(false);
  });

  test("a cap on the costs holds for sub-agents as well", async () => {
    await using model = await fakeModel(
      script(
        ({ steps }) =>
          calls(steps, "Agent").length === 0 ? agent({ prompt: "TASK: dear", subagent_type: "general-purpose" }) : { text: "ok" },
        () => ({ calls: [{ name: "ReadFile", input: { path: "README.md" } }], usage: { input: 1_000_000, output: 0 } }),
      ),
    );
    await using home = await testHome();
    const run = await home.roocode(["-p", "go", "--max-cost", "1"], { env: model.env("anthropic") });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain("--max-cost is $1");
    expect(model.proxy.captures.length).toBeLessThan(4);
  });

  test("a parent that is killed leaves nothing running, and its sub-agent's words are on the disk", async () => {
    const command = `sleep 1000.${process.pid}`;
    await using model = await fakeModel(
      script(
        () => agent({ prompt: "TASK: hang", subagent_type: "general-purpose" }),
        () => ({ text: "I hang now.", calls: [{ name: "Bash", input: { command: `touch hangs; ${command}` } }] }),
      ),
    );
    await using home = await testHome();
    const killer = '"$@" & pid=$!; until [ -e hangs ]; do sleep 0.05; done; kill -9 $pid; wait $pid; true';
    await home.roocode(["-p", "go", ...BYPASS], { env: model.env("anthropic"), through: ["sh", "-c", killer, "sh"] });
    await eventually(async () => (await processesWith(command)).length === 0);
    const [session] = await agentSessions(home);
    expect(await readFile(session ?? "", "utf8")).toContain("I hang now.");
  });

  test("a file of the project's makes a kind of its own; the model is told, and one that comes later works without a restart", async () => {
    await using home = await testHome();
    const folder = join(home.repo, ".roocode", "agents");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "poet.md"), "---\nname: poet\ndescription: Writes verse\n---\nYou write verse.\n");
    await using model = await fakeModel(
      script(
        async ({ steps }) => {
          if (calls(steps, "Agent").length === 0) return agent({ prompt: "TASK: one", subagent_type: "poet" });
          await mkdir(join(home.data, "agents"), { recursive: true });
          await writeFile(join(home.data, "agents", "critic.md"), "---\nname: critic\ndescription: judges\n---\nYou judge.\n");
          if (calls(steps, "Agent").length === 1) return agent({ prompt: "TASK: two", subagent_type: "critic" });
          return { text: "Both." };
        },
        () => ({ text: "Mine." }),
      ),
    );
    const run = await home.roocode(["-p", "go", ...BYPASS], { env: model.env("anthropic") });
    expect(run).toMatchObject({ code: 0, stdout: "Both.\n" });
    const [first, poet] = bodies(model);
    expect(JSON.stringify(first?.messages)).toContain("- poet: Writes verse");
    expect(JSON.stringify(poet?.system)).toContain("You write verse.");
    expect(calls(model.requests.at(-1)?.steps ?? [], "Agent").map(({ result }) => result.includes("Mine."))).toEqual([true, true]);
  });

  test("what a project's file grants counts once the person has accepted it", async () => {
    await using home = await testHome();
    const folder = join(home.repo, ".claude", "agents");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "poet.md"), "---\nname: poet\ndescription: Writes verse\ntools: Read\n---\nYou write verse.\n");
    await using model = await fakeModel(
      script(
        ({ steps }) =>
          calls(steps, "Agent").length === 0
            ? agent({ prompt: "TASK: one", subagent_type: "poet" })
            : { text: calls(steps, "Agent")[0]?.result ?? "" },
        () => ({ text: "Mine." }),
      ),
    );
    const env = model.env("anthropic");
    const refused = await home.roocode(["-p", "go"], { env });
    expect(refused.stdout).toContain("off until you accept");
    expect(refused.stderr).toContain("agent .claude/agents/poet.md: tools: Read");
    expect((await home.roocode(["-p", "go", "--trust"], { env })).stdout).toContain("Mine.");
    expect(toolNames(bodies(model).find(({ system }) => JSON.stringify(system).includes("You write verse")))).toEqual(["ReadFile"]);
  });

  test("hooks see a sub-agent begin, act and end in its own name, keep it from ending, and run one of their own that starts none", async () => {
    await using model = await fakeModel(
      script(
        ({ steps }) => (calls(steps, "Agent").length === 0 ? agent({ prompt: "TASK: look", subagent_type: "Explore" }) : { text: "ok" }),
        (conversation) => {
          if (/HOOK/.test(firstOrForked(conversation))) return { text: '{"context":"the hook\'s agent looked"}' };
          return { text: /not yet/.test(lastWords(conversation)) ? "Now it is done." : "Done." };
        },
      ),
    );
    await using home = await testHome();
    const log = join(home.home, "events.jsonl");
    const command = (text: string) => ({ type: "command", command: text });
    const once = `[ -e ${log}.once ] || { touch ${log}.once; echo not yet >&2; exit 2; }`;
    const hooks = [
      ...["subagent_start", "subagent_stop"].map((event) => ({ event, action: command(`printf "%s\\n" "$(cat)" >> ${log}`) })),
      { event: "subagent_stop", if: 'agent_type == "Explore"', action: command(once) },
      { event: "subagent_start", action: { type: "agent", prompt: "TASK HOOK", description: "looks on" } },
    ];
    await mkdir(home.data, { recursive: true });
    await writeFile(join(home.data, "config.yaml"), JSON.stringify({ hooks }));
    const run = await home.roocode(["-p", "go"], { env: model.env("anthropic") });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    const events = (await readFile(log, "utf8"))
      .trim()
      .split(/\n+/)
      .map((line) => JSON.parse(line));
    // Not in order: the actions of one event run beside each other.
    expect(events).toContainEqual(expect.objectContaining({ event: "subagent_start", agent_type: "Explore", prompt: "TASK: look" }));
    expect(events.filter(({ event, agent_type }) => event === "subagent_stop" && agent_type === "Explore")).toHaveLength(2);
    expect(events.filter(({ event, agent_type }) => event === "subagent_start" && agent_type === "general-purpose")).toHaveLength(1);
    expect(calls(model.requests.at(-1)?.steps ?? [], "Agent")[0]?.result).toContain("Now it is done.");
  });

  test("--coordinator: no tools for code; who is started without a type does the work with all of them", async () => {
    await using model = await fakeModel(
      script(
        ({ steps }) => (calls(steps, "Agent").length === 0 ? agent({ prompt: "TASK: write" }) : { text: "Coordinated." }),
        ({ rounds }) =>
          rounds === 0 ? { calls: [{ name: "WriteFile", input: { path: "by-agent.txt", content: "x\n" } }] } : { text: "Written." },
      ),
    );
    await using home = await testHome();
    const env = model.env("anthropic");
    const run = await home.roocode(["-p", "go", "--coordinator", ...BYPASS], { env });
    expect(run).toMatchObject({ code: 0, stdout: "Coordinated.\n" });
    expect(toolNames(bodies(model)[0])).toEqual(
      ["Agent", "AskUserQuestion", "ExitPlanMode", "SendMessage", "TaskCreate", "TaskGet", "TaskList", "TaskStop", "TaskUpdate"].sort(),
    );
    expect(existsSync(join(home.repo, "by-agent.txt"))).toBe(true);
    expect(await home.roocode(["-p", "-c", "more", ...BYPASS], { env })).toMatchObject({ code: 0 });
    expect(toolNames(bodies(model).at(-1))).not.toContain("Bash");
  });
});

describe("plan mode", { timeout: LONG }, () => {
  const planner =
    (write = true) =>
    (conversation: Conversation): Answer => {
      const { steps } = conversation;
      const file = /The one exception is the plan file (\S+),/.exec(firstOrForked(conversation))?.[1] ?? "";
      if (write && calls(steps, "WriteFile").length === 0)
        return { calls: [{ name: "WriteFile", input: { path: file, content: "# The plan\n1. Do it.\n" } }] };
      if (calls(steps, "ExitPlanMode").length === 0)
        return {
          calls: [
            { name: "EditFile", input: { path: "README.md", old_string: "a", new_string: "b" } },
            { name: "ExitPlanMode", input: {} },
          ],
        };
      return { text: calls(steps, "ExitPlanMode")[0]?.result ?? "" };
    };

  test.each(PROTOCOLS)(
    "without a person the plan file is written, nothing else is, and the plan is left open: exit code 4, over %s",
    async (protocol) => {
      await using model = await fakeModel(planner());
      await using home = await testHome();
      const env = model.env(protocol);
      const run = await home.roocode(["-p", "plan it", "--permission-mode", "plan"], { env });
      expect(run.code).toBe(4);
      expect(run.stdout).toContain("Nobody is here to approve the plan");
      const file = /A plan waits for your approval: (\S+)/.exec(run.stderr)?.[1] ?? "";
      expect(await readFile(file, "utf8")).toBe("# The plan\n1. Do it.\n");
      expect(file.startsWith(home.data)).toBe(true);
      expect(await gitText(home.repo, ["status", "--porcelain"])).toBe("");
      expect(calls(model.requests.at(-1)?.steps ?? [], "EditFile")[0]?.result).toContain("Permission denied");
    },
  );

  test("C-16: a session that goes on, or was compacted, is still in plan mode", async () => {
    await using model = await fakeModel(planner(false));
    await using home = await testHome();
    const env = model.env("anthropic");
    expect((await home.roocode(["-p", "plan it", "--permission-mode", "plan"], { env })).code).toBe(0);
    await home.roocode(["-p", "-c", "go on"], { env });
    expect(JSON.stringify(bodies(model).at(-1)?.messages.at(-1))).toContain("Plan mode is on");
    await home.roocode(["-p", "-c", "go on", "--permission-mode", "default"], { env });
    expect(JSON.stringify(bodies(model).at(-1)?.messages.at(-1))).not.toContain("Plan mode is on");
    await home.roocode(["-p", "-c", "and on"], { env });
    expect(JSON.stringify(bodies(model).at(-1)?.messages.at(-1))).not.toContain("Plan mode is on");
  });
});

/** How far two bodies are the same, from their beginning. */
function sharedBytes(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

function toolNames(body: Body | undefined): string[] {
  return (body?.tools ?? []).map((tool) => tool.name ?? tool.function?.name ?? "");
}
