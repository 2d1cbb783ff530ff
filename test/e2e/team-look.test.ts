import { expect, test } from "vitest";
import type { PlanInput } from "../../src/interaction/demo/plan.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { tmuxTest } from "../support/in-tmux.ts";
import { startTeam, statusOf } from "../support/running-team.ts";
import { teamInPanes } from "../support/team-in-panes.ts";
import { tmuxSocket } from "../support/tmux-server.ts";
import { TWO_FILES } from "../support/two-files.ts";

const LONG = 90_000;

test(
  "team report tells what a team did, of one that is over and of one that was left with its branches",
  async () => {
    await using home = await testHome();
    await using model = await fakeModel({ plan: TWO_FILES });
    const flags = ["-p", "--backend", "process", "--check", "test -f a.txt"];
    const merged = await home.roocode(["team", ...flags, "--name", "one", "go"], { env: model.env("anthropic") });
    expect(merged.code, merged.stderr).toBe(0);
    const over = await home.roocode(["team", "report", "one"]);
    expect(over.stdout).toMatch(/Result: main is at [0-9a-f]{8}; 2 of 2 tasks completed\./);
    expect(over.stdout).toMatch(/Merged alice \([0-9a-f]{8}\)\./);
    expect(over.stdout).toContain('Check "test -f a.txt" passed.');
    expect(over.stdout).toMatch(/Task 1 completed: Write a \(alice, [0-9a-f]{8}\)/);
    expect(over.stdout).toMatch(/Spent: /);
    expect((await home.roocode(["team", "log", "one"])).stdout).toContain("lead  The team's run ended with exit 0.");

    const left = await home.roocode(["team", ...flags, "--no-merge", "--name", "two", "go"], { env: model.env("anthropic") });
    expect(left.code, left.stderr).toBe(0);
    const report = JSON.parse((await home.roocode(["team", "report", "two", "--json"])).stdout);
    expect(report.landed).toBeUndefined();
    // What is merged already is not written anew.
    expect(report.members.map(({ name }: { name: string }) => name).sort()).toEqual(["alice", "bob"]);
    expect(report.members[0]).toMatchObject({ commits: expect.any(Array), files: expect.any(Array), starts: 1, deaths: [] });
    const unknown = await home.roocode(["team", "report", "three"]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('There is no team "three".')]);
  },
  LONG,
);

test(
  "team log -f ends with the team, and shows its last line; of a team that is over it is the log",
  async () => {
    await using home = await testHome();
    await using model = await fakeModel({ plan: TWO_FILES });
    await using team = startTeam(home, ["-p", "--backend", "process", "--name", "one", "go"], model.env("anthropic"));
    await eventually(() => team.output().includes("Team one, branch"));
    const followed = await home.roocode(["team", "log", "one", "-f"]);
    expect(followed.code).toBe(0);
    expect(followed.stdout).toMatch(/run ended with exit 0\.\n.*Tidied: .*\n$/);
    expect((await team.ended).code).toBe(0);
    const over = await home.roocode(["team", "log", "one", "-f"]);
    expect(over.stdout).toBe(followed.stdout);
  },
  LONG,
);

tmuxTest(
  "team attach brings the person's client to a teammate's pane; where nothing runs it says how to go on",
  async () => {
    const asking: PlanInput = {
      teammates: [{ name: "alice", prompt: "Do your task." }],
      tasks: [{ key: "a", subject: "Make a file", teammate: "alice", commands: ["node --version; touch made.txt"] }],
    };
    await using team = await teamInPanes({ plan: asking }, ["--name", "ask", "--backend", "tmux", "--layout", "window", "go"]);
    await team.sees(team.lead, "alice: Bash(node --version; touch made.txt)");
    const alice = (await statusOf(team.home, "ask")).members[0]?.paneId ?? "";
    await using outer = await tmuxSocket();
    const session = await team.tmux("display-message", "-p", "-t", team.lead, "#{session_name}");
    await outer.tmux("new-session", "-d", "-x", "150", "-y", "45", "env", "-u", "TMUX", ...team.client, "attach-session", "-t", session);
    const where = () => team.tmux("list-clients", "-F", "#{pane_id}");
    await eventually(async () => (await where()) === team.lead);
    await team.tmux("new-window", "-d", "-t", `${session}:`, ...team.roocode, "team", "attach", "ask");
    await eventually(async () => (await where()) === alice);
    const apart = await team.home.roocode(["team", "attach", "ask"]);
    expect([apart.code, apart.stderr]).toEqual([2, expect.stringContaining("neither TMUX nor the default socket")]);
    await team.type(team.lead, "n");
    await team.untilOver();
    const over = await team.home.roocode(["team", "attach", "ask"]);
    expect(over.code).toBe(2);
  },
  LONG,
);
