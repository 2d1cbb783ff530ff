import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SUMMARY } from "../support/compacting.ts";
import { fakeModel, inOrder } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { skillText } from "../support/skills.ts";

const text = (words: string) => ({ text: words });

test("commands of the program answer in a print run without a model, in every format", async () => {
  await using home = await testHome({ ".roocode/skills/mine.md": skillText({ name: "mine", description: "Does mine." }) });
  await using model = await fakeModel(inOrder());
  const env = model.env("anthropic");
  const skills = await home.roocode(["-p", "/skills"], { env });
  expect(skills).toMatchObject({ code: 0, stdout: expect.stringContaining("- mine: Does mine. (project)") });
  const help = await home.roocode(["-p", "/help"], { env });
  for (const name of ["clear", "compact", "doctor", "export", "init", "mcp", "memory", "mine", "resume", "review", "team"])
    expect(help.stdout).toMatch(new RegExp(`^/${name}\\b`, "m"));
  const json = await home.roocode(["-p", "/mode plan", "--output-format", "json"], { env });
  expect(JSON.parse(json.stdout)).toMatchObject({
    type: "result",
    subtype: "success",
    is_error: false,
    num_turns: 0,
    result: "Mode plan.",
  });
  const events = await home.roocode(["-p", "/cost", "--output-format", "events"], { env });
  expect(
    events.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).type),
  ).toEqual(["start", "loop_complete"]);
  expect(await home.roocode(["-p", "/context"], { env })).toMatchObject({ code: 0, stdout: expect.stringContaining("Context: about") });
  const status = await home.roocode(["-p", "/status", "--max-cost", "2"], { env });
  expect(status.stdout).toMatch(
    /^Session +[0-9a-f-]{36}, 0 turns\nModel +claude-\S+\nMode +default\nFolder +\S+, branch main\nWindow +about \d+ of \d+ tokens\nCost +0 tokens in, 0 out, \$0\.00, of \$2\.00 at most\nServers +none\n/m,
  );
  const config = await home.roocode(["-p", "/config"], { env });
  expect(config.stdout).toContain('theme: "auto"  (default)');
  expect(config.stdout).toContain(`user: ${join(home.data, "config.yaml")}  (not there)`);
  expect(config.stdout).not.toContain("test-key");
  expect((await home.roocode(["-p", "/config sandbox.mode"], { env })).stdout).toBe('  sandbox.mode: "auto"  (default)\n');
  expect(model.proxy.captures).toEqual([]);
});

test("/compact and /export work on the session that goes on", async () => {
  await using home = await testHome({ "long.txt": Array.from({ length: 3_000 }, (_, index) => `line ${index} of many\n`).join("") });
  const reads = Array.from({ length: 6 }, (_, index) => ({
    calls: [{ name: "ReadFile", input: { path: "long.txt", offset: 1 + 400 * index, limit: 400 } }],
  }));
  await using model = await fakeModel(({ steps, rounds }) => {
    const last = steps.at(-1);
    if (last?.type === "words" && /summary/i.test(last.text)) return text(SUMMARY);
    return reads[rounds] ?? text("One.");
  });
  const env = model.env("anthropic");
  await home.roocode(["-p", "one"], { env });
  expect(await home.roocode(["-p", "-c", "/compact"], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Compacted: about \d+ tokens became \d+\.\n$/),
  });
  expect(await home.roocode(["-p", "-c", "/export talk.md"], { env })).toMatchObject({
    code: 0,
    stdout: `Written to ${join(home.repo, "talk.md")}.\n`,
  });
  expect(await readFile(join(home.repo, "talk.md"), "utf8")).toContain("One.");
  expect(await home.roocode(["-p", "-c", "/export talk.md"], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is there already"),
  });
  expect(await home.roocode(["-p", "-c", "/compact"], { env: {} })).not.toMatchObject({ code: 0 });
});

test("a skill and a command file become the prompt, with what was typed behind them and what was piped", async () => {
  await using home = await testHome({
    ".claude/commands/deploy/staging.md": "---\ndescription: Deploys\n---\nDeploy $1 to staging.\n",
    ".roocode/skills/mine.md": skillText({ name: "mine", description: "Does mine." }, "Mine: $ARGUMENTS."),
  });
  await using model = await fakeModel(({ steps }) => text(`Did ${steps.length}.`));
  const env = model.env("anthropic");
  expect(await home.roocode(["-p", "/deploy:staging v1.2"], { env })).toMatchObject({ code: 0 });
  expect(await home.roocode(["-p", "/mine a b"], { env, input: "piped words" })).toMatchObject({ code: 0 });
  const [deploy, mine] = model.proxy.captures.map(({ body }) => JSON.stringify(JSON.parse(body).messages));
  expect(deploy).toContain("/deploy:staging v1.2");
  expect(deploy).toContain("Deploy v1.2 to staging.");
  expect(mine).toContain("Mine: a b.");
  expect(mine).toContain("piped words");
  model.proxy.assertLegal();
});

test("an unknown command is one line with the nearest name; what only begins with a slash is a message", async () => {
  await using home = await testHome({ ".claude/commands/broken.md": "---\ndescription: d\nGo.\n" });
  await using model = await fakeModel(() => text("Read."));
  const env = model.env("anthropic");
  expect(await home.roocode(["-p", "/comit"], { env })).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^.*There is no command \/comit\. Did you mean \/commit\?\n$/),
  });
  expect((await home.roocode(["-p", "/xyzzyxyzzy"], { env })).stderr).toContain("/help lists them.");
  expect((await home.roocode(["-p", "/broken"], { env })).stderr).toMatch(/can't be used: .*broken\.md: line 1: /);
  expect((await home.roocode(["-p", "/queue"], { env })).stderr).toContain("is for an interactive session");
  expect((await home.roocode(["-p", "/clear"], { env })).stderr).toContain("is for an interactive session");
  expect(model.proxy.captures).toEqual([]);
  for (const prompt of ["/etc/hosts is wrong", "/tmp is full", "// a comment", "/* another */ x", "/ alone"])
    expect(await home.roocode(["-p", prompt], { env })).toMatchObject({ code: 0, stdout: "Read.\n" });
  expect(model.proxy.captures).toHaveLength(5);
});
