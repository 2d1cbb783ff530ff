import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fakeModel } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { tmuxTest } from "../support/in-tmux.ts";
import { tmuxSocket } from "../support/tmux-server.ts";
import { TWO_FILES } from "../support/two-files.ts";

const LONG = 90_000;
const FAKE_IT2 = fileURLToPath(new URL("../fixtures/tools/fake-it2", import.meta.url));

test(
  "a team in panes of iTerm2, by a stand-in for it2: its work is merged, and every pane is closed",
  async () => {
    await using home = await testHome();
    await using model = await fakeModel({ plan: TWO_FILES });
    const bin = join(home.home, "bin");
    await mkdir(bin);
    copyFileSync(FAKE_IT2, join(bin, "it2"));
    const log = join(home.home, "it2.jsonl");
    const env = {
      ...model.env("anthropic"),
      PATH: [bin, process.env.PATH].join(delimiter),
      FAKE_IT2_LOG: log,
      ITERM_SESSION_ID: "w0t0p0:LEAD-SESSION",
    };
    const run = await home.roocode(["team", "-p", "--name", "panes", "--backend", "iterm2", "go"], { env });
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toContain("Teammates run on backend iterm2: asked for.");
    expect(await readFile(join(home.repo, "a.txt"), "utf8")).toBe("from alice\n");
    expect(await readFile(join(home.repo, "b.txt"), "utf8")).toBe("from bob\n");
    const calls: string[] = readFileSync(log, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).argv.join(" "));
    expect(calls.filter((call) => call.startsWith("session split"))).toHaveLength(2);
    expect(calls.filter((call) => call.startsWith("session close"))).toHaveLength(2);
    expect(calls.join("\n")).not.toContain("test-key");
    model.proxy.assertLegal();
    const refused = await home.roocode(["team", "-p", "--backend", "iterm2", "go"], { env: { ...env, FAKE_IT2_MODE: "refused" } });
    expect(refused.stdout + refused.stderr).toContain("Enable Python API");
  },
  LONG,
);

test("iterm2 elsewhere, and the backend command without its settings, are refused before anything is made", async () => {
  await using home = await testHome();
  const elsewhere = await home.roocode(["team", "-p", "--backend", "iterm2", "go"], { env: { ANTHROPIC_API_KEY: "k" } });
  expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining("this terminal is not iTerm2")]);
  const bare = await home.roocode(["team", "-p", "--backend", "command", "go"], { env: { ANTHROPIC_API_KEY: "k" } });
  expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining("needs team.pane.open in your settings")]);
  // A project can't say what is started.
  await mkdir(join(home.repo, ".roocode"));
  await writeFile(join(home.repo, ".roocode", "config.yaml"), 'team: { pane: { open: ["touch", "pwned", "{command}"] } }\n');
  const foreign = await home.roocode(["team", "-p", "--backend", "command", "go"], { env: { ANTHROPIC_API_KEY: "k" } });
  expect(foreign.code).toBe(2);
  expect(existsSync(join(home.repo, "pwned"))).toBe(false);
  expect(existsSync(join(home.data, "teams"))).toBe(false);
});

tmuxTest(
  "a team in panes that the person's own commands open: here those of tmux",
  async () => {
    await using home = await testHome();
    await using model = await fakeModel({ plan: TWO_FILES });
    await using socket = await tmuxSocket();
    await socket.tmux("new-session", "-d", "-x", "200", "-y", "50");
    const tmux = ["tmux", ...socket.socketArgs];
    const open = [...tmux, "split-window", "-d", "-P", "-F", "#{pane_id}", "-c", "{cwd}", "{command}"];
    await mkdir(home.data, { recursive: true });
    const pane = { open, close: [...tmux, "kill-pane", "-t", "{pane}"] };
    await writeFile(join(home.data, "config.yaml"), `team: ${JSON.stringify({ pane, backend: "command" })}\n`);
    const run = await home.roocode(["team", "-p", "--name", "panes", "go"], {
      env: { ...model.env("openai"), TMUX_TMPDIR: socket.folder },
    });
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toContain("Teammates run on backend command: asked for.");
    expect(await readFile(join(home.repo, "b.txt"), "utf8")).toBe("from bob\n");
    expect((await socket.tmux("list-panes", "-a", "-F", "#{pane_id}")).trim().split("\n")).toHaveLength(1);
    model.proxy.assertLegal();
  },
  LONG,
);
