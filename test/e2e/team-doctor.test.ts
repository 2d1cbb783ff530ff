import { existsSync } from "node:fs";
import { chmod, mkdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Conversation } from "../../src/interaction/demo/conversation.ts";
import { type PlanInput, readPlan } from "../../src/interaction/demo/plan.ts";
import { scriptedTurn } from "../../src/interaction/demo/scripted-model.ts";
import { gitText } from "../../src/platform/git.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { livingMembers, startTeam, statusOf } from "../support/running-team.ts";

const LONG = 90_000;
const PLAN: PlanInput = {
  teammates: [{ name: "alice", prompt: "You are alice." }],
  tasks: [{ key: "a", subject: "Write a", teammate: "alice", edits: [{ file: "a.txt", content: "from alice\n" }] }],
};

test(
  "team doctor finds what the death of lead and member left, mends what can be mended, and says what is for a person to decide",
  async () => {
    await using home = await testHome();
    const plan = readPlan(PLAN);
    // Alice has her task and is killed while her model thinks.
    let isHeld = false;
    const answers = async (conversation: Conversation) => {
      const answer = scriptedTurn(plan, conversation);
      if (conversation.role.type === "worker" && answer.calls?.some(({ name }) => name === "WriteFile")) {
        isHeld = true;
        await new Promise(() => undefined);
      }
      return answer;
    };
    await using model = await fakeModel(answers);
    await using run = startTeam(home, ["-p", "--name", "sick", "--backend", "process", "go"], model.env("anthropic"));
    await eventually(async () => isHeld, 60_000);
    const doctor = async (...more: string[]) => {
      const { code, stdout, stderr } = await home.roocode(["team", "doctor", ...more]);
      expect(stderr).toBe("");
      return { code, stdout };
    };
    expect(await doctor("sick")).toEqual({ code: 0, stdout: "✓ sick: it runs, and nothing is wrong with it.\n" });

    const alice = (await statusOf(home, "sick")).members[0];
    process.kill(run.pid, "SIGKILL");
    process.kill(-(alice?.pid ?? 0), "SIGKILL");
    await run.ended;
    const folder = join(home.data, "teams", "sick");
    const worktree = alice?.worktree ?? "";
    await rm(worktree, { recursive: true });
    await chmod(folder, 0o755);
    const boot = join(folder, "boot", "bob.1.abcd.json");
    await writeFile(boot, "{}");
    await utimes(boot, 0, 0);
    const seen = await doctor();
    expect(seen.code).toBe(1);
    for (const line of [
      "! sick: its lead is gone. Go on with it: roocode team resume sick; or tidy it away: roocode team clean sick",
      "! sick: its folder is open to other users (mode 755). Mended by --fix.",
      "! sick: 1 start files with keys were never taken. Mended by --fix.",
      "! sick/alice: its process is gone though nobody stopped it.",
      `! sick/alice: its worktree ${worktree} is gone. Mended by --fix.`,
      "! sick: in progress by nobody who lives: task 1. Mended by --fix.",
    ])
      expect(seen.stdout).toContain(line);
    // Looking changes nothing.
    expect(existsSync(boot)).toBe(true);
    expect((await statusOf(home, "sick")).tasks[0]).toMatchObject({ status: "in_progress" });

    const mended = await doctor("sick", "--fix");
    expect(mended.stdout).toContain("Back on the list: 1.");
    expect(mended.stdout).toContain("Made again from worktree-team-sick+alice.");
    expect([existsSync(boot), existsSync(join(worktree, ".git")), (await stat(folder)).mode & 0o777]).toEqual([false, true, 0o700]);
    expect((await statusOf(home, "sick")).tasks[0]).toMatchObject({ status: "pending", attempts: 2 });
    // What is left is the person's to decide.
    const after = await doctor("sick");
    expect(after.stdout.trim().split("\n")).toEqual([
      expect.stringContaining("its lead is gone"),
      expect.stringContaining("its process is gone though nobody stopped it"),
    ]);
    const unknown = await home.roocode(["team", "doctor", "nobody"]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('There is no team "nobody"')]);
  },
  LONG,
);

test(
  "a second Ctrl+C ends the lead at once, and the members save their work and end too, asked or not by then",
  async () => {
    await using home = await testHome();
    const plan = readPlan(PLAN);
    let isHeld = false;
    await using model = await fakeModel(async (conversation: Conversation) => {
      const answer = scriptedTurn(plan, conversation);
      if (conversation.role.type === "worker" && answer.calls?.some(({ name }) => name === "TaskUpdate") && conversation.rounds > 1) {
        isHeld = true;
        await new Promise(() => undefined);
      }
      return answer;
    });
    await using run = startTeam(home, ["-p", "--name", "twice", "--backend", "process", "go"], model.env("anthropic"));
    await eventually(async () => isHeld, 60_000);
    process.kill(run.pid, "SIGINT");
    await eventually(async () => run.output().includes("Once more ends the lead"), 10_000);
    process.kill(run.pid, "SIGINT");
    expect((await run.ended).code).toBe(130);
    await eventually(async () => (await livingMembers(home)).length === 0, 20_000);
    const status = await statusOf(home, "twice");
    expect(status.members[0]).toMatchObject({ state: "stopped" });
    expect(status.tasks[0]).toMatchObject({ status: "pending" });
    const { branch = "" } = status.members[0] ?? {};
    expect(await gitText(home.repo, ["show", `${branch}:a.txt`])).toBe("from alice");
  },
  LONG,
);

test(
  "who resumes a team while it is tidied away is refused",
  async () => {
    await using home = await testHome();
    await using model = await fakeModel({ plan: PLAN });
    await mkdir(home.data, { recursive: true });
    await writeFile(join(home.data, "config.yaml"), `team: { worktree: { teardown: "touch ${home.home}/began; sleep 4" } }\n`);
    const env = model.env("anthropic");
    const made = await home.roocode(["team", "-p", "--no-merge", "--name", "kept", "--backend", "process", "go"], { env });
    expect(made.code, made.stderr).toBe(0);
    const cleaning = home.roocode(["team", "clean", "kept", "--force"]);
    await eventually(async () => existsSync(join(home.home, "began")), 20_000);
    const resumed = await home.roocode(["team", "resume", "-p", "kept"], { env });
    expect([resumed.code, resumed.stderr]).toEqual([2, expect.stringContaining('Team "kept" has a living lead')]);
    expect((await cleaning).code).toBe(0);
    expect((await home.roocode(["team", "list"])).stdout).toContain("No teams.");
  },
  LONG,
);
