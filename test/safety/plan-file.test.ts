import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PermissionMode } from "../../src/protocol/permission.ts";
import { createAuthorize } from "../../src/safety/authorize.ts";
import { ruleReader } from "../../src/safety/rule-files.ts";
import { accessIn } from "../support/access.ts";
import { tempFolder } from "../support/temp.ts";

const never = new AbortController().signal;

async function place(mode: PermissionMode, more: { onlyLooks?: boolean } = {}) {
  const temp = await tempFolder("plan");
  const [root, home] = [join(temp.path, "proj"), join(temp.path, "home")];
  const sessions = join(home, ".roocode", "projects", "p", "sessions");
  await mkdir(root);
  await mkdir(sessions, { recursive: true });
  const local = join(root, ".roocode", "config.local.yaml");
  await mkdir(join(root, ".roocode"));
  await writeFile(local, 'permissions: {allow: ["Bash(make *)", "Bash(touch x)"]}\n');
  const planFile = join(sessions, "s.plan.md");
  const authorize = createAuthorize({
    context: {
      root,
      cwd: root,
      home,
      dataFolder: join(home, ".roocode"),
      extraRoots: [],
      mode: () => mode,
      rules: ruleReader({ user: join(home, "none"), project: join(root, "none"), local }),
      isTrusted: true,
      planFile,
      isHeadless: true,
      ...more,
    },
  });
  const decide = async (tool: string, input: Record<string, unknown>) =>
    (await authorize({ agent: "a", tool, access: accessIn(tool, input) }, never)).decision;
  return { sessions, planFile, root, decide, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

test("in plan mode the plan file alone is written without a question, though it lies in the data folder", async () => {
  await using made = await place("plan");
  const write = (path: string) => made.decide("WriteFile", { path, content: "x" });
  expect(await write(made.planFile)).toBe("allow");
  expect(await made.decide("ReadFile", { path: made.planFile })).toBe("allow");
  expect(await write(`${made.planFile}.x`)).toBe("deny");
  expect(await write(join(made.sessions, "s.jsonl"))).toBe("deny");
  expect(await write("f.txt")).toBe("deny");
});

test("what stands in the plan file's place leads nowhere else", async () => {
  await using made = await place("bypassPermissions");
  await symlink(join(made.sessions, "s.jsonl"), made.planFile);
  expect(await made.decide("WriteFile", { path: made.planFile, content: "x" })).toBe("deny");
});

test("one that may only look runs no other command, whatever mode and rules say", async () => {
  await using made = await place("bypassPermissions", { onlyLooks: true });
  const bash = (command: string) => made.decide("Bash", { command });
  for (const command of ["ls -la", "cat f.txt | head -3", "grep -rn x ."])
    expect([command, await bash(command)]).toEqual([command, "allow"]);
  for (const command of ["touch x", "make all", "echo x > f.txt", "rm f.txt", "node -e 1", "ls; touch x", "curl http://a.b"])
    expect([command, await bash(command)]).toEqual([command, "deny"]);
});
