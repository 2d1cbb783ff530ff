import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PlanInput } from "../../src/interaction/demo/plan.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel } from "../support/fake-model.ts";
import { childEnvironment, testHome } from "../support/home.ts";
import { tmuxDescribe } from "../support/in-tmux.ts";
import { statusOf } from "../support/running-team.ts";
import { tmuxSocket } from "../support/tmux-server.ts";

const LONG = 90_000;
const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);
const PLAN: PlanInput = {
  teammates: [{ name: "alice", prompt: "Do your task." }],
  tasks: [{ key: "a", subject: "Make a file by a command", teammate: "alice", commands: ["node --version; touch made.txt"] }],
};

/** A lead in a real pane, its teammate in another. */
async function teamInPanes() {
  const model = await fakeModel({ plan: PLAN });
  const home = await testHome();
  // Inside the sandbox nothing would be asked.
  await mkdir(home.data, { recursive: true });
  await writeFile(join(home.data, "config.yaml"), "sandbox: off\n");
  const socket = await tmuxSocket();
  const env = { ...childEnvironment(home.home), ...model.env("anthropic") };
  const settings = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const command = [process.execPath, BIN, "team", "--name", "ask", "--backend", "tmux", "go"];
  const lead = await socket.tmux(
    "new-session",
    "-d",
    "-P",
    "-F",
    "#{pane_id}",
    "-x",
    "200",
    "-y",
    "50",
    "-c",
    home.repo,
    ...settings,
    ...command,
  );
  await socket.tmux("set-option", "-g", "remain-on-exit", "on");
  const screen = (pane: string) => socket.tmux("capture-pane", "-p", "-J", "-t", pane);
  return {
    home,
    lead,
    screen,
    /** Waits for alice's question; gives her pane. */
    asked: async (): Promise<string> => {
      await eventually(async () => (await screen(lead)).includes("alice: Bash(node --version; touch made.txt)"), 60_000);
      return (await statusOf(home, "ask")).members[0]?.paneId ?? "";
    },
    answer: (where: string, key: string) => socket.tmux("send-keys", "-t", where, key, "Enter"),
    untilOver: async () => {
      await eventually(async () => (await socket.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_dead}")).includes(`${lead} 1`), 60_000);
      return screen(lead);
    },
    async [Symbol.asyncDispose]() {
      await socket[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
      model.proxy.assertLegal();
      await model[Symbol.asyncDispose]();
    },
  };
}

tmuxDescribe("P03 a teammate's question shows in its pane and in the lead's terminal; the first answer wins", () => {
  test(
    "the lead's terminal says always: the rule that was shown is written to the primary checkout, and the command runs",
    async () => {
      await using team = await teamInPanes();
      const alice = await team.asked();
      const status = await statusOf(team.home, "ask");
      expect(status.members[0]).toMatchObject({
        name: "alice",
        state: "waiting",
        detail: "an answer: Bash(node --version; touch made.txt)",
      });
      expect(await team.screen(alice)).toContain("[y]es [n]o");
      await team.answer(team.lead, "a");
      expect(await team.untilOver()).toContain("merged");
      const rules = await readFile(join(team.home.repo, ".roocode/config.local.yaml"), "utf8");
      expect(rules).toContain("- Bash(node --version; touch made.txt)");
      expect(existsSync(join(team.home.repo, "made.txt"))).toBe(true);
    },
    LONG,
  );

  test(
    "her own pane says no: it is a denial that she sees, and the lead's question is gone",
    async () => {
      await using team = await teamInPanes();
      const alice = await team.asked();
      await team.answer(alice, "n");
      await team.untilOver();
      expect(existsSync(join(team.home.repo, "made.txt"))).toBe(false);
      const log = await team.home.roocode(["team", "log", "ask"]);
      expect(log.stdout).toContain("User denied this operation");
    },
    LONG,
  );
});
