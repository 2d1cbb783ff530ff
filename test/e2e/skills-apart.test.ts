import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer, Conversation } from "../../src/interaction/demo/conversation.ts";
import { fakeModel } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { skillText } from "../support/skills.ts";

type Body = ReturnType<typeof JSON.parse>;
const BYPASS = ["--permission-mode", "bypassPermissions"];
const SUBAGENT = "You are a sub-agent of RooCode";

const call = (name: string, input: Record<string, unknown> = {}): Answer => ({ calls: [{ name, input }] });

/** Two scripts beside each other: whoever has `mark` in what was said first is the sub-agent. */
function two(mark: string, sub: readonly Answer[], main: readonly Answer[]) {
  return ({ steps, rounds }: Conversation): Answer => {
    const isSub =
      steps.some((step) => step.type === "words" && step.from === "user" && step.text.includes(mark)) &&
      !steps.some(
        (step) => step.type === "call" && ["Agent", "LoadSkill"].includes(step.name) && JSON.stringify(step.input).includes(mark),
      );
    return (isSub ? sub : main)[rounds] ?? { text: "Over." };
  };
}

const bodiesOf = (captures: readonly { body: string }[]): { sub: Body[]; main: Body[] } => {
  const all: Body[] = captures.map(({ body }) => JSON.parse(body));
  const isSub = (body: Body) => JSON.stringify(body.system).includes(SUBAGENT);
  return { sub: all.filter(isSub), main: all.filter((body) => !isSub(body)) };
};
const results = (body: Body): string[] =>
  body.messages
    .flatMap(({ content }: Body) => (Array.isArray(content) ? content : []))
    .filter(({ type }: Body) => type === "tool_result")
    .map(({ content }: Body) => (typeof content === "string" ? content : content.map(({ text }: Body) => text).join("")));

test("a skill that works apart, typed by name: it begins without the conversation, has only its tools, and its report goes to the main agent", async () => {
  await using home = await testHome({
    ".roocode/skills/audit.md": skillText(
      { name: "audit", description: "Audits.", mode: "fork", allowedTools: "ReadFile, Bash(git status *)" },
      "AUDIT $1 now.",
    ),
  });
  const answers = two(
    "AUDIT src now.",
    [
      call("Bash", { command: "git status --short" }),
      call("Bash", { command: "touch made" }),
      call("WriteFile", { path: "made", content: "" }),
      { text: "REPORT: two findings." },
    ],
    [{ text: "There are two findings." }],
  );
  // The report reaches the main agent, whose message holds no words of the skill.
  await using model = await fakeModel(answers);
  const run = await home.roocode(["-p", "/audit src", ...BYPASS], { env: model.env("anthropic") });
  expect(run).toMatchObject({ code: 0, stdout: "There are two findings.\n" });
  const { sub, main } = bodiesOf(model.proxy.captures);
  expect(sub[0].tools.map(({ name }: Body) => name)).toEqual(["Bash", "ReadFile"]);
  const [status, touch, write] = results(sub.at(-1));
  expect(status).not.toContain("denied");
  expect(touch).toMatch(/^Permission denied: the skill "audit" allows only/);
  expect(write).toContain('There is no tool "WriteFile"');
  expect(main).toHaveLength(1);
  expect(JSON.stringify(main[0].messages)).toContain("REPORT: two findings.");
  expect(JSON.stringify(main[0].messages)).toContain("/audit src");
  expect(JSON.stringify(main[0].messages)).not.toContain("AUDIT src now.");
});

test("a skill that works apart, loaded by the model: the report is the result, and the main agent keeps its tools", async () => {
  await using home = await testHome({
    ".roocode/skills/audit.md": skillText(
      { name: "audit", description: "Audits.", context: "fork", allowedTools: "ReadFile" },
      "AUDIT $1 now.",
    ),
  });
  const answers = two(
    "AUDIT src now.",
    [{ text: "REPORT: clean." }],
    [call("LoadSkill", { name: "audit", arguments: "src" }), call("Bash", { command: "echo free" }), { text: "Done." }],
  );
  await using model = await fakeModel(answers);
  expect(await home.roocode(["-p", "look", ...BYPASS], { env: model.env("anthropic") })).toMatchObject({ code: 0, stdout: "Done.\n" });
  const { main } = bodiesOf(model.proxy.captures);
  expect(results(main.at(-1))).toEqual([expect.stringContaining("REPORT: clean."), expect.stringContaining("free")]);
});

test("a sub-agent loads skills of its own; what they take away is taken from it alone", async () => {
  await using home = await testHome({
    ".roocode/skills/look.md": skillText({ name: "look", description: "Looks.", allowedTools: "ReadFile" }),
  });
  const agent = call("Agent", { prompt: "SUBTASK", description: "a task", subagent_type: "general-purpose" });
  const answers = two(
    "SUBTASK",
    [call("LoadSkill", { name: "look" }), call("Bash", { command: "echo sub" }), { text: "Sub is done." }],
    [agent, call("Bash", { command: "echo main" }), { text: "Done." }],
  );
  await using model = await fakeModel(answers);
  expect(await home.roocode(["-p", "begin", ...BYPASS], { env: model.env("anthropic") })).toMatchObject({ code: 0, stdout: "Done.\n" });
  const { sub, main } = bodiesOf(model.proxy.captures);
  expect(JSON.stringify(sub[0].messages)).toContain("- look: Looks.");
  expect(results(sub.at(-1))[1]).toMatch(/^Permission denied: the skill "look" allows only ReadFile/);
  expect(results(main.at(-1))[1]).toContain("main");
  model.proxy.assertLegal();
});

test("a teammate is told of the skills, loads one, and reads the files that belong to it from its own worktree", {
  timeout: 90_000,
}, async () => {
  await using home = await testHome({ "README.md": "x\n" });
  // Not committed: the worktree does not have it.
  await mkdir(join(home.repo, ".roocode/skills/kit/references"), { recursive: true });
  await writeFile(
    join(home.repo, ".roocode/skills/kit/SKILL.md"),
    skillText({ name: "kit", description: "A kit.", allowedTools: "ReadFile, TaskUpdate" }),
  );
  await writeFile(join(home.repo, ".roocode/skills/kit/references/more.md"), "MORE WORDS\n");
  await using model = await fakeModel(({ role, steps, rounds }) => {
    if (role.type === "lead")
      return rounds === 0 ? call("Agent", { description: "works", prompt: "Work.", name: "alice" }) : { text: "The team is done." };
    const path = /Files of this skill lie in (\S+)/.exec(JSON.stringify(steps))?.[1] ?? "";
    const script = [
      call("LoadSkill", { name: "kit" }),
      call("ReadFile", { path: `${path.replace(/\\n.*/, "")}/references/more.md` }),
      call("Bash", { command: "echo no" }),
    ];
    return script[rounds] ?? { text: "Done." };
  });
  const run = await home.roocode(["team", "go", "--name", "t", "-p", "--backend", "process", "--no-merge", ...BYPASS], {
    env: model.env("anthropic"),
    timeoutMs: 90_000,
  });
  expect(run.stderr).not.toContain("failed");
  const bodies = model.proxy.captures.map(({ body }): Body => JSON.parse(body));
  const alice = bodies.filter((body) => results(body).some((text) => text.includes('Skill "kit"'))).at(-1);
  expect(JSON.stringify(alice.messages[0])).toContain("- kit: A kit.");
  expect(results(alice)).toEqual([
    expect.stringContaining("Do it."),
    expect.stringContaining("MORE WORDS"),
    expect.stringMatching(/^Permission denied: the skill "kit"/),
  ]);
  model.proxy.assertLegal();
});

test("a skill's list holds for the agents that are started under it", async () => {
  await using home = await testHome({
    ".roocode/skills/look.md": skillText({ name: "look", description: "Looks.", allowedTools: "ReadFile, Agent" }),
  });
  const agent = call("Agent", { prompt: "SUBTASK", description: "a task", subagent_type: "general-purpose" });
  const answers = two(
    "SUBTASK",
    [call("Bash", { command: "echo sub" }), { text: "Sub is done." }],
    [call("LoadSkill", { name: "look" }), agent, { text: "Done." }],
  );
  await using model = await fakeModel(answers);
  expect(await home.roocode(["-p", "begin", ...BYPASS], { env: model.env("anthropic") })).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(results(bodiesOf(model.proxy.captures).sub.at(-1))[0]).toMatch(/^Permission denied: the skill "look" allows only/);
});
