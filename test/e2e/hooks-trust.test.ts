import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { exists } from "../../src/platform/files.ts";
import { gitText } from "../../src/platform/git.ts";
import { fakeModel } from "../support/fake-model.ts";
import { sampleRepository, type TestHome, testHome } from "../support/home.ts";

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
