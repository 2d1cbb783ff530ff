import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Answer, type Conversation, calls } from "../../src/interaction/demo/conversation.ts";
import { gitText } from "../../src/platform/git.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel } from "../support/fake-model.ts";
import { type TestHome, testHome } from "../support/home.ts";
import { processesWith } from "../support/running-team.ts";

const BYPASS = ["--permission-mode", "bypassPermissions"];

function said({ steps }: Pick<Conversation, "steps">): string {
  return steps.flatMap((step) => (step.type === "words" && step.from === "user" ? [step.text] : [])).join("\n");
}

const bash = (command: string): Answer => ({ calls: [{ name: "Bash", input: { command } }] });

/** For a shell: the one in a worktree has begun its work. */
const isHalf = (home: TestHome) => `[ -n "$(find ${home.data}/worktrees -name half.txt 2>/dev/null)" ]`;

async function records(home: TestHome): Promise<string> {
  const projects = join(home.data, "projects");
  const names = (await readdir(projects, { recursive: true })).filter((name) => /agent-[0-9a-f]+\.json$/.test(name));
  return (await Promise.all(names.map((name) => readFile(join(projects, name), "utf8")))).join("\n");
}

describe("sub-agents whose session ends before them", () => {
  test("after a kill the session that goes on hears once what became of each, and work in a worktree is saved", async () => {
    const sleeper = `sleep 1000.${process.pid}`;
    const agent = (prompt: string, more: object = {}) => ({
      name: "Agent",
      input: { description: prompt, prompt, subagent_type: "general-purpose", run_in_background: true, ...more },
    });
    await using home = await testHome();
    await using model = await fakeModel((conversation) => {
      const { steps, rounds } = conversation;
      const words = said(conversation);
      if (words.includes("AGAIN")) return { text: "Heard." };
      if (words.includes("TASK quick"))
        return rounds === 0 ? bash("until [ -e waits ]; do sleep 0.02; done") : { text: "The quick one is done." };
      if (words.includes("TASK cut"))
        return rounds === 0 ? { text: "I begin.", ...bash(`echo half > half.txt; ${sleeper}`) } : { text: "?" };
      // While both are at work it hears of neither.
      return calls(steps, "Agent").length === 0
        ? { calls: [agent("TASK quick"), agent("TASK cut", { isolation: "worktree", name: "cutter" })] }
        : bash(`touch waits; ${sleeper}`);
    });
    const env = model.env("anthropic");
    const isThere = `${isHalf(home)} && grep -rq '"status": "completed"' ${home.data}/projects --include 'agent-*.json'`;
    const killer = `"$@" & pid=$!; until ${isThere}; do sleep 0.05; done; kill -9 $pid; wait $pid; true`;
    await home.roocode(["-p", "go", ...BYPASS], { env, through: ["sh", "-c", killer, "sh"] });
    await eventually(async () => (await processesWith(sleeper)).length === 0);

    const again = await home.roocode(["-p", "-c", "AGAIN", ...BYPASS], { env });
    expect(again).toMatchObject({ code: 0, stdout: "Heard.\n" });
    expect(again.stderr).toContain("Sub-agent cutter: stopped. The agent hears of it with your next message.");
    const heard = said(model.requests.at(-1) ?? { steps: [] });
    expect(heard.match(/<task-notification [^>]*>/g)).toEqual([
      expect.stringMatching(/type="general-purpose" status="completed"/),
      expect.stringMatching(/name="cutter" type="general-purpose" status="stopped"/),
    ]);
    expect(heard).toContain("The quick one is done.");
    expect(heard).toContain("I begin.\n[The process that it ran in has ended before it was done");
    const branch = /Branch (worktree-agent-[0-9a-f]{6}): 1 commit/.exec(heard)?.[1] ?? "";
    expect(await gitText(home.repo, ["show", `${branch}:half.txt`])).toBe("half");
    expect((await gitText(home.repo, ["worktree", "list"])).split("\n")).toHaveLength(1);
    model.proxy.assertLegal();

    const before = model.requests.length;
    await home.roocode(["-p", "-c", "AGAIN", ...BYPASS], { env });
    expect(said(model.requests[before] ?? { steps: [] }).match(/<task-notification /g)).toHaveLength(2);
  });

  test("SIGTERM ends them with the session: nothing runs on, the record says how they ended, and the worktree is left in order", async () => {
    const sleeper = `sleep 1001.${process.pid}`;
    await using home = await testHome();
    await using model = await fakeModel((conversation) => {
      if (said(conversation).includes("TASK")) return conversation.rounds === 0 ? bash(`echo half > half.txt; ${sleeper}`) : { text: "?" };
      return {
        calls: [{ name: "Agent", input: { description: "d", prompt: "TASK", subagent_type: "general-purpose", isolation: "worktree" } }],
      };
    });
    const ender = `"$@" & pid=$!; until ${isHalf(home)}; do sleep 0.05; done; kill $pid; wait $pid`;
    const run = await home.roocode(["-p", "go", ...BYPASS], { env: model.env("anthropic"), through: ["sh", "-c", ender, "sh"] });
    expect(run.code).toBe(143);
    await eventually(async () => (await processesWith(sleeper)).length === 0);
    expect(JSON.parse(await records(home)).end).toMatchObject({ status: "stopped" });
    expect((await gitText(home.repo, ["worktree", "list"])).split("\n")).toHaveLength(1);
    const branch = (await gitText(home.repo, ["branch", "--list", "worktree-agent-*"])).trim();
    expect(await gitText(home.repo, ["show", `${branch}:half.txt`])).toBe("half");
    expect(existsSync(join(home.repo, "half.txt"))).toBe(false);
  });

  test("one whose server fails for good says so, with what it had said", async () => {
    await using model = await fakeModel(
      (conversation) => {
        if (said(conversation).includes("TASK")) return { text: "I look.", calls: [{ name: "Glob", input: { pattern: "*" } }] };
        const [call] = calls(conversation.steps, "Agent");
        return call
          ? { text: call.result }
          : { calls: [{ name: "Agent", input: { description: "d", prompt: "TASK", subagent_type: "Plan" } }] };
      },
      // The fourth request fails for good.
      {
        play: ({ body }, number) =>
          number === 4 && body.includes("TASK")
            ? { status: 400, body: '{"type":"error","error":{"type":"invalid_request_error","message":"no more"}}' }
            : undefined,
      },
    );
    await using home = await testHome();
    const { stdout, code } = await home.roocode(["-p", "go", ...BYPASS], { env: model.env("anthropic") });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^I look\.\n\[.*no more.*\]\n\[agent-[0-9a-f]{6}, \d turns?, failed\./s);
  });

  test.each(["", '{"type":"hea'])(
    "a session of one that was cut off before its first line (%j) keeps no other from going on",
    async (text) => {
      await using home = await testHome();
      await using model = await fakeModel((conversation) => {
        const words = said(conversation);
        const once = (name: string, input: Record<string, unknown>): Answer | undefined =>
          calls(conversation.steps, name).length === 0 ? { calls: [{ name, input }] } : undefined;
        if (words.includes("TASK")) return { text: "Looked." };
        const id = /task="(agent-[0-9a-f]+)"/.exec(words)?.[1];
        const call = words.includes("AGAIN")
          ? once("SendMessage", { to: id ?? "", message: "go on" })
          : once("Agent", { description: "a look", prompt: "TASK look", subagent_type: "general-purpose" });
        return call ?? { text: "Told." };
      });
      const env = model.env("anthropic");
      await home.roocode(["-p", "go"], { env });
      const [session = ""] = await home.sessions();
      const folder = session.replace(/\.jsonl$/, ".agents");
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        if (name.endsWith(".jsonl")) await writeFile(path, text);
        else {
          const { end: _, isTold: __, ...cut } = JSON.parse(await readFile(path, "utf8"));
          await writeFile(path, JSON.stringify(cut));
        }
      }
      expect(await home.roocode(["-p", "-c", "AGAIN"], { env })).toMatchObject({ code: 0, stdout: "Told.\n" });
      const last = model.requests.at(-1)?.steps ?? [];
      expect(said({ steps: last })).toContain("It had not begun");
      expect(calls(last, "SendMessage")[0]?.result).toContain("there is nothing to go on from");
    },
  );
});
