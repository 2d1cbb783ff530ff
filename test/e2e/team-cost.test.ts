import { expect, test } from "vitest";
import type { Answer } from "../../src/interaction/demo/conversation.ts";
import { type PlanInput, readPlan } from "../../src/interaction/demo/plan.ts";
import { scriptedTurn } from "../../src/interaction/demo/scripted-model.ts";
import { gitText } from "../../src/platform/git.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { dollarAnswers, pricedSettings } from "../support/priced.ts";
import { startTeam, statusOf } from "../support/running-team.ts";

const LONG = 120_000;
const FLAGS = ["-p", "--backend", "process", "--permission-mode", "bypassPermissions", "--output-format", "json"];
const PLAN: PlanInput = {
  teammates: [
    { name: "alice", prompt: "You are alice." },
    { name: "bob", prompt: "You are bob." },
  ],
  tasks: [
    { key: "a", subject: "Write a", teammate: "alice", edits: [{ file: "a.txt", content: "from alice\n" }] },
    { key: "b", subject: "Write b", teammate: "bob", blockedBy: ["a"], edits: [{ file: "b.txt", content: "from bob\n" }] },
  ],
};

const resultOf = (stdout: string) => JSON.parse(stdout.trim().split("\n").at(-1) ?? "");

test(
  "while a server wants a pause from one agent, no other of the team asks it",
  async () => {
    const PAUSE_MS = 3_000;
    const asked: { by: string; at: number }[] = [];
    let refusedAt: number | undefined;
    const start: Answer = {
      calls: ["alice", "bob"].map((name) => ({ name: "Agent", input: { name, description: "a worker", prompt: "Look." } })),
    };
    await using model = await fakeModel(
      ({ role, rounds }) => {
        if (role.type !== "worker") return rounds === 0 ? start : { text: "I wait." };
        return rounds < 25 ? { calls: [{ name: "Bash", input: { command: `echo ${rounds}` } }] } : { text: "Done." };
      },
      {
        play: ({ body }) => {
          const by = /You are (alice|bob), a teammate/.exec(body)?.[1] ?? "lead";
          asked.push({ by, at: Date.now() });
          const isUnderWay = asked.filter((one) => one.by === "bob").length > 2;
          if (by !== "alice" || !isUnderWay || refusedAt !== undefined) return undefined;
          refusedAt = Date.now();
          return {
            status: 429,
            headers: { "content-type": "application/json", "retry-after": String(PAUSE_MS / 1000) },
            body: JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "slow down" } }),
          };
        },
      },
    );
    await using home = await testHome();
    const run = await home.roocode(["team", "goal", "--name", "pause", "--no-merge", ...FLAGS], {
      env: model.env("anthropic"),
      timeoutMs: LONG,
    });
    expect(run.code, run.stderr).toBe(0);
    const from = (refusedAt ?? 0) + 500;
    const inPause = asked.filter(({ at }) => at > from && at < from - 500 + PAUSE_MS - 50);
    expect(inPause).toEqual([]);
    expect(asked.filter(({ by, at }) => by === "bob" && at > from).length).toBeGreaterThan(5);
  },
  LONG,
);

test(
  "a 429 that one agent gets shows in the team's status, its screen and its log, and is gone once the answer comes",
  async () => {
    const agents = [
      { name: "lead", asks: /You are the lead of a team/ },
      { name: "alice", asks: /You are alice, a teammate/ },
      { name: "integrator", asks: /You merge the branches/ },
    ];
    const limited = { agent: agents[0] };
    const alice = { isSeenAgain: false };
    const read = readPlan(PLAN);
    await using model = await fakeModel(
      async (conversation) => {
        // Her second request is held back until she was seen at work again.
        if (conversation.role.type === "worker" && conversation.role.name === "alice" && conversation.rounds > 0)
          await eventually(() => alice.isSeenAgain, 60_000);
        return scriptedTurn(read, conversation);
      },
      {
        play: ({ body }) =>
          limited.agent?.asks.test(body)
            ? {
                status: 429,
                headers: { "content-type": "application/json", "retry-after": "2" },
                body: JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "slow down" } }),
              }
            : undefined,
      },
    );
    await using home = await testHome();
    await using team = startTeam(home, ["write", "--name", "slow", ...FLAGS], model.env("anthropic"));
    const status = () => statusOf(home, "slow").catch(() => undefined);
    const detailOf = async (name: string) => {
      const now = await status();
      return name === "alice" ? now?.members.find((member) => member.name === name)?.detail : now?.detail;
    };
    const wait = "rate limited: retry \\d of 8 in 2 s";
    for (const agent of agents) {
      const { name } = agent;
      limited.agent = agent;
      const words = new RegExp(`^${name === "integrator" ? "integrator: " : ""}${wait}$`);
      await eventually(async () => words.test((await detailOf(name)) ?? ""), 60_000);
      if (name === "alice") {
        const shown = await home.roocode(["team", "status", "slow"]);
        expect(shown.stdout).toMatch(new RegExp(`alice +busy \\(${wait}\\)`));
        limited.agent = undefined;
        await eventually(async () => {
          const member = (await status())?.members.find((one) => one.name === name);
          return member?.state === "busy" && member.detail === undefined;
        }, 60_000);
        // Before she goes on: the integrator comes after her.
        limited.agent = agents[2];
        alice.isSeenAgain = true;
      }
    }
    limited.agent = undefined;
    const { code, stderr } = await team.ended;
    expect(code, stderr).toBe(0);
    const { stdout } = await home.roocode(["team", "log", "slow"]);
    for (const name of ["lead", "alice", "integrator"]) {
      expect(stderr).toMatch(new RegExp(`^${name}: ${wait}$`, "m"));
      expect(stdout).toMatch(new RegExp(`${name}  ${wait}$`, "m"));
    }
  },
  LONG,
);

test(
  "tokens and money are told for each agent, each task and the whole team",
  async () => {
    await using model = await fakeModel(dollarAnswers(PLAN));
    await using home = await testHome();
    await pricedSettings(home, model);
    const run = await home.roocode(["team", "write", "--name", "paid", ...FLAGS], { timeoutMs: LONG });
    expect(run.code, run.stderr).toBe(0);
    const result = resultOf(run.stdout);
    const answers = model.requests.length;
    expect(result.usage).toMatchObject({ input_tokens: 1_000 * answers, output_tokens: 100 * answers });
    expect(result.total_cost_usd).toBeCloseTo(answers);
    expect(result.result).toContain(`The team took ${1_000 * answers} tokens in, ${100 * answers} out, $${answers}.00.`);

    const by = (type: string, name?: string) =>
      model.requests.filter(({ role }) => role.type === type && (role.type !== "worker" || role.name === name)).length;
    const status = await statusOf(home, "paid");
    expect(status.lead?.spent?.cost).toBeCloseTo(by("lead") + by("integrator"));
    for (const member of status.members) expect(member.spent?.cost).toBeCloseTo(by("worker", member.name));
    expect(status.spent?.cost).toBeCloseTo(answers);
    for (const task of status.tasks) {
      expect(task.spent?.cost).toBeGreaterThanOrEqual(1);
      expect(task.spent?.cost).toBeLessThan(by("worker", task.owner));
    }
    const { stdout } = await home.roocode(["team", "status", "paid"]);
    expect(stdout).toMatch(/alice .*tokens in, .* out, \$\d+\.00/);
    expect(stdout).toMatch(/● 1 Write a \(alice\); .*\$\d+\.00/);
    expect(stdout).toContain(`total ${1_000 * answers} tokens in, ${100 * answers} out, $${answers}.00`);
  },
  LONG,
);

test(
  "at the team's cap everyone stops with their work kept; a resume with a higher cap goes on and counts on",
  async () => {
    await using model = await fakeModel(dollarAnswers(PLAN));
    await using home = await testHome();
    await pricedSettings(home, model);
    const run = await home.roocode(["team", "write", "--name", "cap", "--max-cost", "8", ...FLAGS], { timeoutMs: LONG });
    expect(run.code, run.stdout + run.stderr).toBe(1);
    const result = resultOf(run.stdout);
    expect(result.result).toMatch(/^Stopped: the team has cost \$\d+\.00; its cap is \$8\. All work is saved/);
    expect(result.result).toContain("roocode team resume cap --max-cost 16");
    // Who was waiting for an answer when the others reached the cap got it.
    expect(result.total_cost_usd).toBeGreaterThanOrEqual(8);
    expect(result.total_cost_usd).toBeLessThanOrEqual(10);
    expect(model.requests).toHaveLength(Math.round(result.total_cost_usd));
    expect(result.unmerged.map(({ name }: { name: string }) => name).sort()).toEqual(["alice", "bob"]);
    const status = await statusOf(home, "cap");
    expect(status.maxCost).toBe(8);
    for (const member of status.members) {
      expect(await gitText(home.repo, ["branch", "--list", member.branch])).not.toBe("");
      expect(await gitText(member.worktree, ["status", "--porcelain"])).toBe("");
    }

    const again = await home.roocode(["team", "resume", "cap", "-p", "--output-format", "json"], { timeoutMs: LONG });
    expect(again.code, again.stderr).toBe(1);
    expect(resultOf(again.stdout).result).toContain("its cap is $8.");
    const more = await home.roocode(["team", "resume", "cap", "--max-cost", "500", "-p", "--output-format", "json"], { timeoutMs: LONG });
    expect(more.code, more.stdout + more.stderr).toBe(0);
    expect(resultOf(more.stdout).merged.sort()).toEqual(["alice", "bob"]);
    expect(resultOf(more.stdout).total_cost_usd).toBeCloseTo(model.requests.length);
    model.proxy.assertLegal();
  },
  LONG,
);

test("a cap on a model without a known price is refused before anything is made, and so is an amount that is none", async () => {
  await using model = await fakeModel({ plan: PLAN });
  await using home = await testHome();
  const run = await home.roocode(["team", "write", "--name", "cap", "--max-cost", "5", "--model", "nobody-knows-it", ...FLAGS], {
    env: model.env("anthropic"),
  });
  expect(run.code).toBe(2);
  expect(run.stderr).toContain("--max-cost needs a price, and that of anthropic/nobody-knows-it is not known.");
  expect(run.stderr).toContain('models: [{ id: "nobody-knows-it", prices: { input: 3, output: 15 } }]');
  const standIn = ["--max-cost", "5", "--fallback-model", "nobody-knows-it"];
  const refused = await home.roocode(["team", "write", "--name", "cap", ...standIn, ...FLAGS], { env: model.env("anthropic") });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("that of anthropic/nobody-knows-it is not known") });
  expect((await home.roocode(["team", "list"])).stdout).toContain("No teams.");
  for (const amount of ["0", "-1", "much"]) {
    const bad = await home.roocode(["team", "write", `--max-cost=${amount}`, ...FLAGS], { env: model.env("anthropic") });
    expect({ code: bad.code, stderr: bad.stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("--max-cost is an amount") });
  }
  expect(model.requests).toEqual([]);
});
