import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PlanInput } from "../../src/interaction/demo/plan.ts";
import { tmuxDescribe } from "../support/in-tmux.ts";
import { statusOf } from "../support/running-team.ts";
import { teamInPanes } from "../support/team-in-panes.ts";

const LONG = 90_000;
const PLAN: PlanInput = {
  teammates: [{ name: "alice", prompt: "Do your task." }],
  tasks: [{ key: "a", subject: "Make a file", teammate: "alice", commands: ["node --version; touch made.txt"] }],
};
const ARGS = ["--name", "pane", "--backend", "tmux", "--layout", "window", "go"];

tmuxDescribe("a teammate's pane", () => {
  test(
    "says in its last row who it is, its task and what it waits for, beside a question that is answered there",
    async () => {
      await using team = await teamInPanes({ plan: PLAN }, ARGS, { ROOCODE_SCREEN: "full" });
      await team.sees(team.lead, "alice asks: Bash");
      const alice = (await statusOf(team.home, "pane")).members[0]?.paneId ?? "";
      const row = "alice · team pane · task 1: Make a file";
      await team.sees(alice, `${row} · waits for an answer: Bash(node --version; touch made.txt)`);
      await team.tmux("send-keys", "-t", alice, "-l", "n");
      await team.sees(alice, "[y]es [n]o > n");
      expect((await team.screen(alice)).split("\n").at(-1)).toContain(row);
      await team.tmux("send-keys", "-t", alice, "BSpace", "y", "Enter");
      await team.untilOver();
      expect(existsSync(join(team.home.repo, "made.txt"))).toBe(true);
    },
    LONG,
  );

  test(
    "says the same in lines where the settings want a plain screen",
    async () => {
      await using team = await teamInPanes({ plan: PLAN }, ARGS);
      await team.sees(team.lead, "alice: Bash(node --version; touch made.txt)");
      const alice = (await statusOf(team.home, "pane")).members[0]?.paneId ?? "";
      await team.sees(alice, "Now task 1: Make a file");
      await team.sees(alice, "It waits for an answer: Bash(node --version; touch made.txt)");
      expect(await team.screen(alice)).not.toContain("team pane ·");
      await team.type(alice, "n");
      await team.untilOver();
    },
    LONG,
  );
});
