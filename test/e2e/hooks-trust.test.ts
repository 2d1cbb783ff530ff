import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { exists } from "../../src/platform/files.ts";
import { gitText } from "../../src/platform/git.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel } from "../support/fake-model.ts";
import { sampleRepository, type TestHome, testHome } from "../support/home.ts";
import { tmuxTest } from "../support/in-tmux.ts";
import { openRepl } from "../support/repl.ts";

const HOOK = "hooks:\n  - {event: session_start, action: {type: command, command: 'touch \"$HOME/ran\"'}}\n";

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function commit(repo: string): Promise<void> {
  await gitText(repo, ["add", "--all", "--force"]);
  await gitText(repo, ["commit", "--quiet", "--message", "More"]);
}

/** Whether the hook ran in a session of somebody who accepted nothing. */
async function ran(home: TestHome): Promise<boolean> {
  await using model = await fakeModel(() => ({ text: "Done." }));
  const run = await home.roocode(["-p", "x"], { env: model.env("anthropic") });
  expect(run.code, run.stderr).toBe(0);
  expect(run.stderr).toContain("This folder is not trusted");
  return exists(join(home.home, "ran"));
}

test("a local file that came with the repository is the project's, whatever link or repository it came through", async () => {
  const ways: Record<string, (repo: string) => Promise<void>> = {
    plain: async (repo) => {
      await put(join(repo, ".roocode", "config.local.yaml"), HOOK);
      await commit(repo);
    },
    "a link as .roocode": async (repo) => {
      await put(join(repo, "tools", "config.local.yaml"), HOOK);
      await symlink("tools", join(repo, ".roocode"));
      await commit(repo);
    },
    "a link as the file": async (repo) => {
      await put(join(repo, "tools", "x.yaml"), HOOK);
      await mkdir(join(repo, ".roocode"));
      await symlink("../tools/x.yaml", join(repo, ".roocode", "config.local.yaml"));
      await commit(repo);
    },
    "a submodule as .roocode": async (repo) => {
      const other = `${repo}-other`;
      await sampleRepository(other, { "config.local.yaml": HOOK });
      await gitText(repo, ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, ".roocode"]);
      await commit(repo);
    },
    "a repository inside of it": async (repo) => {
      await sampleRepository(join(repo, ".roocode"), { "config.local.yaml": HOOK });
    },
  };
  for (const [name, make] of Object.entries(ways)) {
    await using home = await testHome({ "f.txt": "one\n" });
    await make(home.repo);
    expect(await ran(home), name).toBe(false);
  }
});

test("outside of git a local file is the project's until the person accepts it, and again when it was changed", async () => {
  await using home = await testHome();
  const folder = join(home.home, "unpacked");
  const local = join(folder, ".roocode", "config.local.yaml");
  await put(local, HOOK);
  await using model = await fakeModel(() => ({ text: "Done." }));
  const runs = async (...args: string[]) => {
    const run = await home.roocode(["-p", "x", ...args], { cwd: folder, env: model.env("anthropic") });
    expect(run.code, run.stderr).toBe(0);
    const hasRun = await exists(join(home.home, "ran"));
    await rm(join(home.home, "ran"), { force: true });
    return { hasRun, isTold: run.stderr.includes("This folder is not trusted") };
  };
  expect(await runs()).toEqual({ hasRun: false, isTold: true });
  expect(await runs("--trust")).toEqual({ hasRun: true, isTold: false });
  expect(await runs()).toEqual({ hasRun: true, isTold: false });
  await put(local, HOOK.replace("/ran", "/ran2"));
  expect(await runs()).toEqual({ hasRun: false, isTold: true });
  expect(await exists(join(home.home, "ran2"))).toBe(false);
});

tmuxTest("what the person accepts on the terminal outside of git is theirs from then on", async () => {
  await using repl = await openRepl(() => ({ text: "Done." }), {
    first: "2 hooks that can run",
    prepare: async ({ repo }) => {
      await rm(join(repo, ".git"), { recursive: true });
      await put(join(repo, ".roocode", "config.local.yaml"), HOOK);
      await put(join(repo, ".roocode", "config.yaml"), HOOK.replace("/ran", "/ran-too"));
    },
  });
  await repl.type("y");
  await repl.sees("/help lists commands");
  const later = await repl.home.roocode(["-p", "x"], { env: repl.model.env("anthropic") });
  expect(later.stderr).not.toContain("not trusted");
  await eventually(() => exists(join(repl.home.home, "ran")));
  await eventually(() => exists(join(repl.home.home, "ran-too")));
});

test("Esc at the question of trust is no", async () => {
  await using repl = await openRepl(() => ({ text: "Done." }), {
    prepare: async ({ repo }) => {
      await mkdir(join(repo, ".roocode"));
      await writeFile(join(repo, ".roocode", "config.yaml"), "permissions: {allow: ['Bash(make *)']}\n");
    },
    first: "Accept it? [y]es [n]o (Esc) >",
  });
  await repl.key("Escape");
  await repl.sees("/help lists commands");
  expect(await repl.screen()).toContain("This folder is not trusted");
});
