import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadSettings } from "../../src/runtime/settings.ts";
import { tempFolder } from "../support/temp.ts";

async function load(levels: { user?: string; project?: string; local?: string }, isLocalForeign = false) {
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
  const { settings, projectDirs, warnings } = await loadSettings({ ...files, isLocalForeign });
  return { settings, projectDirs, warnings: warnings.map((warning) => warning.replace(`${folder.path}/`, "")) };
}

describe("settings", () => {
  test("the local level beats the project's, that beats the user's; team and tools are merged by field", async () => {
    const { settings, warnings } = await load({
      user: "model: haiku\nteam: {teammates: 2, check: a}\n",
      project: "model: opus\nteam: {backend: process}\n",
      local: "tools: {allowBash: false}\n",
    });
    expect(settings).toMatchObject({ model: "opus", team: { teammates: 2, check: "a", backend: "process" }, tools: { allowBash: false } });
    expect(warnings).toEqual([]);
  });

  test("a check that the project asks for stands apart: it runs only once the project is trusted", async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, "project.yaml");
    await writeFile(path, "team: {check: make test, teammates: 3}\n");
    const none = join(folder.path, "none.yaml");
    expect(await loadSettings({ user: none, project: path, local: none })).toMatchObject({
      settings: { team: { teammates: 3 } },
      projectCheck: "make test",
    });
  });

  test("the sandbox: a word or a map; a project can only tighten it, the person's own files decide the rest", async () => {
    const sandbox = async (...given: Parameters<typeof load>) => (await load(...given)).settings.sandbox;
    expect(await sandbox({ user: "sandbox: required\n" })).toEqual({ mode: "required" });
    expect(await sandbox({ user: "sandbox: off\n" })).toEqual({ mode: "off" });
    expect(await sandbox({ user: "sandbox: {mode: off, network: on}\n", project: "sandbox: required\n" })).toEqual({
      mode: "required",
      network: "on",
    });
    const hosts = { network: ["example.org", "*.example.net:8443"] };
    expect(await sandbox({ user: `sandbox: ${JSON.stringify(hosts)}\n` })).toEqual(hosts);
    expect(await sandbox({ project: `sandbox: ${JSON.stringify(hosts)}\n` })).toEqual({});
    expect(await sandbox({ user: "sandbox: required\n", project: "sandbox: off\n" })).toEqual({ mode: "required" });
    expect(await sandbox({ user: "sandbox: {network: on}\n", project: "sandbox: {network: off}\n" })).toEqual({ network: "off" });
    const loose = "sandbox: {mode: off, network: on, writable: [/], excluded: ['*']}\n";
    expect(await sandbox({ project: loose })).toEqual({});
    expect(await sandbox({ local: loose }, true)).toEqual({});
    expect((await load({ project: loose })).warnings).toEqual([
      "project.yaml: a project can only tighten the sandbox; what would loosen it is ignored.",
    ]);
    expect(await sandbox({ local: "sandbox: {writable: [/x]}\n", user: "sandbox: auto\n" })).toEqual({ mode: "auto", writable: ["/x"] });
  });

  test("a sandbox setting that can't be understood is named with its line, and the sandbox is required until it is mended", async () => {
    for (const network of ["[https://example.org]", "[]", "example.org", "[example.org, '*']"]) {
      const { settings, warnings } = await load({ user: `model: a\nsandbox: {network: ${network}}\n` });
      expect(settings.sandbox).toEqual({ mode: "required" });
      expect(warnings).toEqual([expect.stringMatching(/^user.yaml:2: sandbox.network.*example\.org.*only inside the OS sandbox/)]);
    }
    expect((await load({ user: "sandbox: required\nmodel: [\n" })).settings.sandbox).toEqual({ mode: "required" });
    expect((await load({ user: "sandbox: off\n", project: "sandbox: {mode: on}\n" })).settings.sandbox).toEqual({ mode: "required" });
  });

  test("a project can turn taking memories off, not on", async () => {
    expect((await load({ user: "autoMemory: false\n", project: "autoMemory: true\n" })).settings.autoMemory).toBe(false);
    expect((await load({ user: "autoMemory: false\n", local: "autoMemory: true\n" }, true)).settings.autoMemory).toBe(false);
    expect((await load({ user: "autoMemory: false\n", local: "autoMemory: true\n" })).settings.autoMemory).toBe(true);
    expect((await load({ user: "autoMemory: true\n", project: "auto_memory: false\n" })).settings.autoMemory).toBe(false);
  });

  test("snake_case of a key is the same key; an unknown one is a warning with file and line", async () => {
    const { settings, warnings } = await load({ user: "permission_mode: plan\n\nmodle: x\n" });
    expect(settings.permissionMode).toBe("plan");
    expect(warnings).toEqual(['user.yaml:3: there is no setting "modle".']);
  });

  test("fields of a section may be written in snake_case too", async () => {
    const { settings, warnings } = await load({ user: "tools: {bash_timeout: 5000}\nteam:\n  orphan_timeout_ms: 7\n" });
    expect(settings).toMatchObject({ tools: { bashTimeout: 5000 }, team: { orphanTimeoutMs: 7 } });
    expect(warnings).toEqual([]);
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

  test("an unknown key inside of a section is named too, and so is a section without effect", async () => {
    const { settings, warnings } = await load({
      user: "team: {teammatez: 3, check: a}\ntools: {bashTimeoutt: 3}\nenableVerificationAgent: true\n",
    });
    expect(settings.team).toEqual({ check: "a" });
    expect(warnings).toEqual([
      'user.yaml:2: there is no setting "tools.bashTimeoutt".',
      'user.yaml:1: there is no setting "team.teammatez".',
    ]);
  });

  test("folders that a project asks for stand apart; those of its committed local file too", async () => {
    const own = await load({ user: "addDirs: [/a]\n", project: "addDirs: [/b]\n", local: "addDirs: [/c]\n" });
    expect([own.settings.addDirs, own.projectDirs]).toEqual([["/c"], ["/b"]]);
    const foreign = await load({ user: "addDirs: [/a]\n", project: "addDirs: [/b]\n", local: "addDirs: [/c]\n" }, true);
    expect([foreign.settings.addDirs, foreign.projectDirs]).toEqual([["/a"], ["/b", "/c"]]);
  });
});
