import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type TestHome, testHome } from "../../support/home.ts";

const FILES = { "f.txt": "one\n" };
const SECRET = "zq-very-secret-value-1234";

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const config = (home: TestHome, args: readonly string[] = [], env: Record<string, string> = {}) =>
  home.roocode(["config", "--json", ...args], { env });

test("each setting comes with its value and the flag, variable or line that it is from", async () => {
  await using home = await testHome(FILES);
  const user = join(home.data, "config.yaml");
  const project = join(home.repo, ".roocode", "config.yaml");
  const local = join(home.repo, ".roocode", "config.local.yaml");
  await write(user, "model: haiku\nteam:\n  teammates: 2\n  check: npm test\npermissions: {deny: [Bash(git push *)]}\n");
  await write(project, "team: {teammates: 3}\n");
  await write(local, "tools:\n  bash_timeout: 5000\n");
  const run = await config(home, ["--permission-mode", "plan"], { ROOCODE_MODEL: "opus", ANTHROPIC_API_KEY: SECRET });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  const report = JSON.parse(run.stdout);
  expect(report.settings).toEqual(
    expect.arrayContaining([
      { key: "model", value: "opus", source: "environment", place: "ROOCODE_MODEL" },
      { key: "permissionMode", value: "plan", source: "flag", place: "--permission-mode" },
      { key: "team.teammates", value: 3, source: "project", place: `${project}:1` },
      { key: "team.check", value: "npm test", source: "user", place: `${user}:4` },
      { key: "tools.bashTimeout", value: 5000, source: "local", place: `${local}:2` },
      { key: "tools.allowBash", value: true, source: "default" },
    ]),
  );
  expect(report.rules).toEqual([{ effect: "deny", text: "Bash(git push *)", level: "user" }]);
  expect(report.model).toMatchObject({
    provider: "anthropic",
    model: "claude-opus-5-5",
    why: expect.stringContaining("ANTHROPIC_API_KEY"),
  });
  expect(report.model.prices.input).toBeGreaterThan(0);
  expect(report.environment).toContainEqual({ name: "ANTHROPIC_API_KEY", isSet: true });
});

test("a fallback model without its key is a problem, and the flag for one beats the settings", async () => {
  await using home = await testHome(FILES);
  await write(
    join(home.data, "config.yaml"),
    "fallbackModel: mine/m\nproviders: [{name: mine, protocol: openai, baseUrl: http://127.0.0.1:1/v1, apiKeyEnv: MINE}]\n",
  );
  const check = await home.roocode(["config", "--check"], { env: { ANTHROPIC_API_KEY: "k" } });
  expect(check).toMatchObject({ code: 2, stdout: expect.stringMatching(/^fallbackModel: .*MINE/) });
  const run = await config(home, ["--fallback-model", "haiku"], { ANTHROPIC_API_KEY: "k", MINE: "k" });
  const place = "--fallback-model";
  expect(JSON.parse(run.stdout).settings).toContainEqual({ key: "fallbackModel", value: "haiku", source: "flag", place });
  expect(JSON.parse(run.stdout).problems).toEqual([]);
});

test("no secret is shown: not a key, a header, a password in an address, nor a server's environment", async () => {
  await using home = await testHome(FILES);
  await write(
    join(home.data, "config.yaml"),
    `providers:
  - {name: mine, protocol: openai, baseUrl: "http://me:${SECRET}@127.0.0.1:1/v1?k=${SECRET}", model: m, apiKeyEnv: MINE, headers: {x: ${SECRET}}}
mcpServers: {s: {command: x, env: {A: ${SECRET}}}, h: {url: "http://me:${SECRET}@127.0.0.1:1/?k=${SECRET}"}}
`,
  );
  for (const args of [["config"], ["config", "--json"], ["doctor", "--offline"], ["doctor", "--offline", "--json"]]) {
    const run = await home.roocode(args, { env: { MINE: SECRET } });
    expect(run.stdout).toContain("MINE");
    expect(run.stdout + run.stderr).not.toContain(SECRET);
    expect((await home.roocode(["mcp", "list"])).stdout).not.toContain(SECRET);
  }
});

test("--check names what is wrong and is exit 2; without anything wrong it is 0", async () => {
  await using home = await testHome(FILES);
  const env = { ANTHROPIC_API_KEY: "k" };
  expect((await home.roocode(["config", "--check"], { env })).code).toBe(0);
  await write(join(home.data, "config.yaml"), "modle: x\npermissions: {allow: [7]}\n");
  const run = await home.roocode(["config", "--check"], { env });
  expect(run.code).toBe(2);
  expect(run.stdout).toMatch(/config\.yaml:1: .*modle[\s\S]*config\.yaml:2: /);
  expect((await home.roocode(["config"], { env })).code).toBe(0);
});

test("without a provider the report says so and shows the rest", async () => {
  await using home = await testHome(FILES);
  const run = await home.roocode(["config"]);
  expect(run.code).toBe(0);
  expect(run.stdout).toMatch(/No model provider is configured[\s\S]*team\.teammates: 4 {2}\(default\)[\s\S]*Presets: anthropic/);
});

test("a folder that is not trusted yet is a note: --check is exit 0, and doctor says it once", async () => {
  await using home = await testHome(FILES);
  await write(join(home.repo, ".roocode", "config.yaml"), "permissions: {allow: [Bash(make *)]}\n");
  const env = { ANTHROPIC_API_KEY: "k" };
  const run = await home.roocode(["config", "--check"], { env });
  expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing is wrong[\s\S]*This folder is not trusted/) });
  const doctor = await home.roocode(["doctor", "--offline"], { env });
  expect(doctor.stdout.match(/not trusted/g)).toHaveLength(1);
  expect(doctor.stdout).not.toContain("Mend it there");
});
