import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PlanInput } from "../../src/interaction/demo/plan.ts";
import { eventually } from "../support/eventually.ts";
import { tmuxDescribe } from "../support/in-tmux.ts";
import { teamInPanes } from "../support/team-in-panes.ts";

const LONG = 90_000;
const FULL = { ROOCODE_SCREEN: "full" };
const planOf = (...commands: string[]): PlanInput => ({
  teammates: [{ name: "alice", prompt: "Do your task." }],
  tasks: [{ key: "a", subject: "Make a file", teammate: "alice", commands }],
});

tmuxDescribe("the lead's full screen", () => {
  test(
    "shows the members, asks a teammate's question by its name, and leaves the report",
    async () => {
      const args = ["--name", "ask", "--backend", "tmux", "--layout", "window", "go"];
      await using team = await teamInPanes({ plan: planOf("node --version; touch made.txt") }, args, FULL);
      await team.sees(team.lead, "alice asks: Bash");
      await team.sees(team.lead, "node --version; touch made.txt");
      await team.sees(team.lead, "● alice  waiting (an answer: Bash(node --version; touch made.txt)) · 1: Make a file");
      expect(await team.screen(team.lead)).toContain("Team ask · 0 of 1 tasks done");
      await team.tmux("send-keys", "-t", team.lead, "y");
      expect(await team.untilOver()).toContain("alice: merged");
      expect(existsSync(join(team.home.repo, "made.txt"))).toBe(true);
    },
    LONG,
  );

  test.each(["process", "in-process"])(
    "Tab chooses who is read and who gets what is typed (%s)",
    async (backend) => {
      const args = ["--name", "talk", "--backend", backend, "--permission-mode", "bypassPermissions", "go"];
      await using team = await teamInPanes({ plan: planOf("sleep 6; touch made.txt") }, args, FULL);
      await team.sees(team.lead, "● alice  busy · 1: Make a file");
      await team.sees(team.lead, "● Bash(sleep 6; touch made.txt)");
      await team.type(team.lead, "be quick, lead");
      await team.sees(team.lead, "you → lead: be quick, lead");
      await team.tmux("send-keys", "-t", team.lead, "Tab");
      await team.sees(team.lead, "To alice");
      await team.sees(team.lead, "│ ● Bash(sleep 6; touch made.txt)");
      await team.type(team.lead, "be quick, alice");
      await team.sees(team.lead, "Delivered to alice");
      await team.untilOver();
      const read = (who: string) =>
        team.model.requests.some(
          ({ role, steps }) =>
            role.type === who &&
            steps.some((step) => step.type === "words" && step.text.includes(`be quick, ${who === "lead" ? "lead" : "alice"}`)),
        );
      await eventually(
        () =>
          read("lead") && (read("worker") || team.model.requests.some(({ steps }) => JSON.stringify(steps).includes("be quick, alice"))),
      );
    },
    LONG,
  );
});
