import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { processesWithEnvironment } from "../../src/platform/process-tree.ts";
import { exists } from "../../src/platform/files.ts";
import { type FakeModel, fakeModel, inOrder } from "../support/fake-model.ts";
import { type Finished, type TestHome, testHome } from "../support/home.ts";

const FILES = { "f.txt": "one\n", "g.txt": "two\n" };

async function userHooks(home: TestHome, yaml: string): Promise<string> {
  const file = join(home.data, "config.yaml");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `hooks:\n${yaml}`);
  return file;
}

function print(home: TestHome, model: FakeModel, ...args: string[]): Promise<Finished> {
  return home.roocode(["-p", "x", "--permission-mode", "bypassPermissions", ...args], { env: model.env("anthropic") });
}

const write = (path: string, content: string) => ({ calls: [{ name: "WriteFile", input: { path, content } }] });
const lastResult = (conversation: { steps: readonly unknown[] }) => JSON.stringify(conversation.steps);

test("K-01: a shell profile that prints does not hide a hook's answer, and a chatty hook's last JSON object counts", async () => {
  await using model = await fakeModel(inOrder(write("a.txt", "x"), write("b.txt", "x"), { text: "Done." }));
  await using home = await testHome(FILES);
  for (const name of [".bashrc", ".profile", ".bash_profile"]) await writeFile(join(home.home, name), "echo ready\n");
  await userHooks(
    home,
    `  - {event: pre_tool_use, if: path matches "a.txt", action: {type: command, command: 'echo "{\\"decision\\":\\"deny\\",\\"reason\\":\\"no\\"}"'}}
  - {event: PreToolUse, if: path matches "b.txt", action: {type: command, command: 'echo ready; echo "{\\"decision\\":\\"deny\\",\\"reason\\":\\"not b\\"}"'}}
`,
  );
  const run = await print(home, model, "--output-format", "json");
  const result = JSON.parse(run.stdout);
  expect(result.permission_denials).toHaveLength(2);
  expect(await exists(join(home.repo, "a.txt"))).toBe(false);
  expect(await exists(join(home.repo, "b.txt"))).toBe(false);
  expect(lastResult(model.requests.at(-1) ?? { steps: [] })).toMatch(/Permission denied: a hook says deny: no.*not b/);
});
