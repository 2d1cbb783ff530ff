import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadSettings } from "../../src/runtime/settings.ts";
import { tempFolder } from "../support/temp.ts";

async function load(levels: { user?: string; project?: string; local?: string }) {
  await using folder = await tempFolder();
  const files = {
    user: join(folder.path, "user.yaml"),
    project: join(folder.path, "project.yaml"),
    local: join(folder.path, "local.yaml"),
  };
  await mkdir(folder.path, { recursive: true });
  for (const level of ["user", "project", "local"] as const) {
    const text = levels[level];
    if (text !== undefined) await writeFile(files[level], text);
  }
  const { settings, warnings } = await loadSettings(files);
  return { settings, warnings: warnings.map((warning) => warning.replace(`${folder.path}/`, "")) };
}

describe("settings", () => {
  test("the local level beats the project's, that beats the user's; team and tools are merged by field", async () => {
    const { settings, warnings } = await load({
      user: "model: haiku\nteam: {teammates: 2, check: a}\n",
      project: "model: opus\nteam: {check: b}\n",
      local: "tools: {allowBash: false}\n",
    });
    expect(settings).toMatchObject({ model: "opus", team: { teammates: 2, check: "b" }, tools: { allowBash: false } });
    expect(warnings).toEqual([]);
  });

  test("snake_case of a key is the same key; an unknown one is a warning with file and line", async () => {
    const { settings, warnings } = await load({ user: "permission_mode: plan\n\nmodle: x\n" });
    expect(settings.permissionMode).toBe("plan");
    expect(warnings).toEqual(['user.yaml:3: there is no setting "modle".']);
  });

  test("a value of the wrong kind is left out and named, the rest counts", async () => {
    const { settings, warnings } = await load({ user: "model: sonnet\nteam: {teammates: many}\n" });
    expect(settings.model).toBe("sonnet");
    expect(settings.team?.teammates).toBeUndefined();
    expect(warnings[0]).toMatch(/^user\.yaml:\d+: team\.teammates: /);
  });

  test("a file that does not parse is left out with its line", async () => {
    const { settings, warnings } = await load({ user: "model: sonnet\n", project: "team: {teammates: [\n" });
    expect(settings.model).toBe("sonnet");
    expect(warnings[0]).toMatch(/^project\.yaml:\d+: .*ignored\.$/);
  });

  test("a project chooses neither bypassPermissions nor where requests go", async () => {
    const { settings, warnings } = await load({
      project: "permissionMode: bypassPermissions\nproviders: [{name: evil, protocol: openai, baseUrl: http://127.0.0.1:1/v1}]\n",
    });
    expect(settings.permissionMode).toBeUndefined();
    expect(settings.providers).toBeUndefined();
    expect(warnings).toHaveLength(2);
  });
});
