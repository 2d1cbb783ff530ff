import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Answer, type Conversation, calls } from "../../src/interaction/demo/conversation.ts";
import { readPlan } from "../../src/interaction/demo/plan.ts";
import { scriptedTurn } from "../../src/interaction/demo/scripted-model.ts";
import { gitText } from "../../src/platform/git.ts";
import { fakeModel, PROTOCOLS } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { tmuxDescribe } from "../support/in-tmux.ts";
import { ONE_DOLLAR, pricedSettings } from "../support/priced.ts";
import { openRepl } from "../support/repl.ts";
import { livingMembers } from "../support/running-team.ts";
import { TWO_FILES } from "../support/two-files.ts";

const LONG = 120_000;
const BYPASS = ["--permission-mode", "bypassPermissions"];
const GOAL = "Two files for the shop";
const plan = readPlan(TWO_FILES);

function said({ steps }: Pick<Conversation, "steps">): string {
  return steps.flatMap((step) => (step.type === "words" && step.from === "user" ? [step.text] : [])).join("\n");
}

/** The main agent starts a team and waits for its report; the team plays the plan, but for what `others` answers. */
function chat(
  input: Record<string, unknown>,
  others: (conversation: Conversation) => Answer | Promise<Answer> | undefined = () => undefined,
) {
  return (conversation: Conversation): Answer | Promise<Answer> => {
    const special = others(conversation);
    if (special) return special;
    if (conversation.role.type !== "main") return scriptedTurn(plan, conversation);
    if (said(conversation).includes("<task-notification")) return { text: "The team has reported." };
    if (calls(conversation.steps, "TeamCreate").length === 0)
      return { calls: [{ name: "TeamCreate", input: { goal: GOAL, name: "shop", ...input } }] };
    return { text: "The team is at work." };
  };
}

describe("a team out of a print run", { timeout: LONG }, () => {
  test.each(PROTOCOLS)("its report is a notification, its work is merged, over %s", async (protocol) => {
    await using model = await fakeModel(chat({ check: "test -e a.txt" }));
    await using home = await testHome();
    const run = await home.roocode(["-p", "a team, please", "--output-format", "json", ...BYPASS], {
      env: model.env(protocol),
      timeoutMs: LONG,
    });
    expect(run.code, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ result: "The team has reported.", is_error: false });
    expect(run.stderr).toContain('Check "test -e a.txt" passed.');
    const report = said(model.requests.findLast(({ role }) => role.type === "main") ?? { steps: [] });
    expect(report).toContain('<task-notification task="team-shop" name="shop" type="team" status="completed">');
    expect(report).toMatch(/alice.*bob|bob.*alice/s);
    expect(report).not.toContain("SendMessage to shop");
    expect(await gitText(home.repo, ["log", "--format=%s", "--merges", "--first-parent"])).toMatch(
      /^merge: (alice|bob)\nmerge: (alice|bob)$/,
    );
    expect(await gitText(home.repo, ["status", "--porcelain"])).toBe("");
    expect((await readdir(join(home.data, "teams"))).filter((name) => !name.startsWith("."))).toEqual([]);
    expect(await livingMembers(home)).toEqual([]);
    model.proxy.assertLegal();
  });

  test("what it took counts as the session's, and of two teams only one gets what --max-cost leaves", async () => {
    const twice = { calls: ["shop", "house"].map((name) => ({ name: "TeamCreate", input: { goal: GOAL, name } })) };
    const script = chat({});
    await using model = await fakeModel(async (conversation) => {
      const isFirst = conversation.role.type === "main" && calls(conversation.steps, "TeamCreate").length === 0;
      return { ...(isFirst ? twice : await script(conversation)), usage: ONE_DOLLAR };
    });
    await using home = await testHome();
    await pricedSettings(home, model);
    const run = await home.roocode(["-p", "a team, please", "--output-format", "json", "--max-cost", "100", ...BYPASS], {
      timeoutMs: LONG,
    });
    expect(run.code, run.stderr).toBe(0);
    const main = model.requests.filter(({ role }) => role.type === "main");
    const [first, second] = calls(main.at(-1)?.steps ?? [], "TeamCreate").map(({ result }) => result);
    expect(first).toContain('"name":"shop"');
    expect(second).toMatch(/^All that --max-cost leaves is given to the team that runs/);
    expect(model.requests.length).toBeGreaterThan(main.length + 6);
    expect(JSON.parse(run.stdout).total_cost_usd).toBeCloseTo(model.requests.length);
  });

  test("nobody is there to be asked, so it does not begin without a rule", async () => {
    await using model = await fakeModel(chat({}));
    await using home = await testHome();
    const run = await home.roocode(["-p", "a team, please", "--output-format", "json"], { env: model.env("anthropic") });
    const [call] = calls(model.requests.at(-1)?.steps ?? [], "TeamCreate");
    expect(call?.result).toMatch(/^Permission denied: .*TeamCreate/);
    expect(run.code).toBe(0);
    expect(existsSync(join(home.data, "teams", "shop"))).toBe(false);
  });

  test("a check that no rule allows is a denial of the team, too", async () => {
    await using model = await fakeModel(chat({ check: "rm -rf /" }));
    await using home = await testHome();
    await home.roocode(["-p", "a team, please", ...BYPASS], { env: model.env("anthropic") });
    const [call] = calls(model.requests.at(-1)?.steps ?? [], "TeamCreate");
    expect(call?.result).toContain('The check "rm -rf /" is denied');
    expect(existsSync(join(home.data, "teams", "shop"))).toBe(false);
  });
});

tmuxDescribe("a team out of the line REPL", { timeout: LONG }, () => {
  test("it asks first; the conversation goes on beside it; a message to it reaches its lead", async () => {
    let isHeld = true;
    await using repl = await openRepl(
      chat({}, (conversation) => {
        const { role, steps } = conversation;
        if (role.type === "worker" && isHeld) {
          return new Promise((resolve) => {
            const look = setInterval(() => {
              if (isHeld) return;
              clearInterval(look);
              resolve(scriptedTurn(plan, conversation));
            }, 20);
          });
        }
        if (role.type === "main" && said(conversation).endsWith("tell them") && calls(steps, "SendMessage").length === 0)
          return { calls: [{ name: "SendMessage", input: { to: "shop", message: "Mind the NOTE." } }] };
        if (role.type === "main" && calls(steps, "SendMessage").length > 0 && !said(conversation).includes("<task-notification"))
          return { text: `Told: ${calls(steps, "SendMessage")[0]?.result}` };
        return undefined;
      }),
    );
    await repl.type("a team, please");
    await repl.sees(/TeamCreate\(Two files for the shop\)/);
    await repl.key("y", "Enter");
    await repl.sees("The team is at work.");
    await repl.sees("shop: alice is ready");
    await repl.prompt();
    await repl.type("tell them");
    await repl.sees("Told: Delivered to the lead of shop");
    isHeld = false;
    await repl.sees("The team has reported.");
    // Said once, by the step.
    expect((await repl.screen()).match(/Task 2 pending: Write b/g)).toHaveLength(1);
    const lead = repl.model.requests.findLast(({ role }) => role.type === "lead");
    expect(JSON.stringify(lead?.steps)).toContain("Mind the NOTE.");
    expect(await readFile(join(repl.home.repo, "a.txt"), "utf8")).toBe("from alice\n");
    await repl.prompt();
  });

  test("/exit in the middle saves its work; the session that goes on tells how the team does", async () => {
    await using repl = await openRepl(
      chat({}, ({ role, steps }) => {
        if (role.type !== "worker") return undefined;
        if (steps.some((step) => step.type === "call" && step.name === "WriteFile"))
          return { calls: [{ name: "Bash", input: { command: "sleep 60" } }] };
        return { calls: [{ name: "WriteFile", input: { path: `${role.name}.txt`, content: "half\n" } }] };
      }),
      { args: BYPASS },
    );
    await repl.type("a team, please");
    await repl.sees("shop: bob is ready");
    await repl.prompt();
    const refused = await repl.home.roocode(["team", "stop", "shop"]);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain("lives in a session");
    await repl.type("/exit");
    await repl.sees("ended with 0");
    expect(await livingMembers(repl.home)).toEqual([]);
    for (const name of ["alice", "bob"])
      expect(await gitText(repl.home.repo, ["show", `worktree-team-shop+${name}:${name}.txt`])).toBe("half");
    const { stdout } = await repl.home.roocode(["-p", "-c", "how is the team?", ...BYPASS], { env: repl.model.env("anthropic") });
    expect(stdout).toContain("The team has reported.");
    expect(said(repl.model.requests.findLast(({ role }) => role.type === "main") ?? { steps: [] })).toMatch(
      /<task-notification task="team-shop"[^>]* status="stopped">[\s\S]*roocode team resume shop/,
    );
  });
});
