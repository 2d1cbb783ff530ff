import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PlanInput } from "../../src/interaction/demo/plan.ts";
import { tmuxDescribe } from "../support/in-tmux.ts";
import { statusOf } from "../support/running-team.ts";
import { teamInPanes } from "../support/team-in-panes.ts";

const LONG = 90_000;
const PLAN: PlanInput = {
  teammates: [{ name: "alice", prompt: "Do your task." }],
  tasks: [{ key: "a", subject: "Make a file by a command", teammate: "alice", commands: ["node --version; touch made.txt"] }],
};

async function askingTeam() {
  const team = await teamInPanes({ plan: PLAN }, ["--name", "ask", "--backend", "tmux", "go"]);
  return {
    ...team,
    /** Waits for alice's question; gives her pane. */
    asked: async (): Promise<string> => {
      await team.sees(team.lead, "alice: Bash(node --version; touch made.txt)");
      return (await statusOf(team.home, "ask")).members[0]?.paneId ?? "";
    },
  };
}

tmuxDescribe("P03 a teammate's question shows in its pane and in the lead's terminal; the first answer wins", () => {
  test(
    "the lead's terminal says always: the rule that was shown is written to the primary checkout, and the command runs",
    async () => {
      await using team = await askingTeam();
      const alice = await team.asked();
      const status = await statusOf(team.home, "ask");
      expect(status.members[0]).toMatchObject({
        name: "alice",
        state: "waiting",
        detail: "an answer: Bash(node --version; touch made.txt)",
      });
      expect(await team.screen(alice)).toContain("[y]es [n]o");
      await team.type(team.lead, "a");
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
      await using team = await askingTeam();
      const alice = await team.asked();
      await team.type(alice, "n");
      await team.untilOver();
      expect(existsSync(join(team.home.repo, "made.txt"))).toBe(false);
      const log = await team.home.roocode(["team", "log", "ask"]);
      expect(log.stdout).toContain("User denied this operation");
    },
    LONG,
  );
});
