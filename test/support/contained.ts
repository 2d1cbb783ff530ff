import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe } from "vitest";
import { commandEnvironment } from "../../src/platform/command-environment.ts";
import { gitText } from "../../src/platform/git.ts";
import { addWorktree } from "../../src/platform/worktree.ts";
import { resultText } from "../../src/protocol/tool.ts";
import { openContainment } from "../../src/runtime/containment.ts";
import type { Settings } from "../../src/runtime/settings-schema.ts";
import { probeSandbox } from "../../src/safety/os-sandbox/detect.ts";
import { secretMasker } from "../../src/safety/secrets.ts";
import { ShellState } from "../../src/tools/bash/shell-state.ts";
import { bashTool } from "../../src/tools/builtin/bash.ts";
import { sampleRepository } from "./home.ts";
import { tempFolder } from "./temp.ts";

const probe = await probeSandbox();
/** Where no sandbox works its tests are left out, and said to be; CI brings bubblewrap, so there they would fail. */
const isLeftOut = !process.env.CI && !probe.works;
if (isLeftOut && !probe.works) process.stderr.write(`The tests of the OS sandbox are left out: ${probe.reason}.\n`);

export const sandboxDescribe = describe.skipIf(isLeftOut);

export type Place = { home: string; data: string; repo: string; worktree: string };

/** A home with a data folder, a repository in it and a team's worktree, and a shell inside of the sandbox with one of them as its root. */
export async function containedShell(
  options: {
    root?: (place: Place) => string;
    settings?: Settings["sandbox"];
    prepare?: (place: Place) => Promise<void>;
    env?: NodeJS.ProcessEnv;
    isMerging?: boolean;
  } = {},
) {
  const folder = await tempFolder("roocode-contained");
  const home = join(folder.path, "home");
  const data = join(home, ".roocode");
  const place = { home, data, repo: join(home, "repo"), worktree: join(data, "worktrees", "repo-1", "team", "alice") };
  await mkdir(join(data, "teams", "team", "inboxes", "bob"), { recursive: true });
  await writeFile(join(data, "config.yaml"), "model: x\n");
  await sampleRepository(place.repo);
  const commit = await gitText(place.repo, ["rev-parse", "HEAD"]);
  for (const name of ["alice", "bob"]) {
    const path = join(data, "worktrees", "repo-1", "team", name);
    await addWorktree({ primary: place.repo, path, branch: `team/${name}`, commit, lockPath: join(data, "lock") });
  }
  await options.prepare?.(place);
  const root = options.root?.(place) ?? place.repo;
  const notices: string[] = [];
  const containment = openContainment(
    options.settings,
    (text) => notices.push(text),
    async () => ({
      root,
      writable: [],
      home,
      dataFolder: data,
      readable: [place.repo],
      keepsPolicy: !options.isMerging,
    }),
  );
  const state = new ShellState(root);
  const env: NodeJS.ProcessEnv = { ...commandEnvironment({ ...process.env, HOME: home, ...options.env }), TEST_SHELL: folder.path };
  const tool = bashTool(state, {
    outputFolder: join(folder.path, "out"),
    env,
    secretMasker,
    ...(containment ? { contain: containment.contain } : {}),
  });
  let number = 0;
  return {
    ...place,
    root,
    env,
    state,
    notices,
    containment,
    async run(command: string, more: object = {}, signal = new AbortController().signal) {
      number += 1;
      const result = await tool.run(tool.parse({ command, ...more }), {
        cwd: root,
        callId: `c${number}`,
        signal,
        progress: () => undefined,
      });
      state.settle();
      return { text: resultText(result), isError: result.isError === true };
    },
    async [Symbol.asyncDispose]() {
      await state[Symbol.asyncDispose]();
      await containment?.[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
