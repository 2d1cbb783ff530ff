import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Answer, type Conversation, calls } from "../../src/interaction/demo/conversation.ts";
import { eventually } from "../support/eventually.ts";
import { tmuxDescribe } from "../support/in-tmux.ts";
import { openRepl } from "../support/repl.ts";

const LONG = 90_000;
const BYPASS = { args: ["--permission-mode", "bypassPermissions"] };

type Repl = Awaited<ReturnType<typeof openRepl>>;

function said({ steps }: Conversation): string {
  return steps.flatMap((step) => (step.type === "words" && step.from === "user" ? [step.text] : [])).join("\n");
}

/** The sub-agent waits until the file `go` is there. */
function waiting(
  background: boolean,
  command = "touch started; until [ -e go ]; do sleep 0.02; done",
): (conversation: Conversation) => Answer {
  return (conversation) => {
    const { steps } = conversation;
    if (said(conversation).includes("TASK")) {
      return calls(steps, "Bash").length === 0
        ? { calls: [{ name: "Bash", input: { command } }] }
        : { text: `The child says ${calls(steps, "Bash")[0]?.result ?? ""}.` };
    }
    if (said(conversation).includes("<task-notification")) return { text: "I heard of it." };
    if (calls(steps, "Agent").length === 0)
      return {
        calls: [
          {
            name: "Agent",
            input: { prompt: "TASK", description: "waits", subagent_type: "general-purpose", run_in_background: background },
          },
        ],
      };
    return { text: "It goes on beside us." };
  };
}

async function letGo(repl: Repl): Promise<void> {
  await repl.socket.tmux("run-shell", `touch ${join(repl.home.repo, "go")}`);
}

tmuxDescribe("sub-agents in the line REPL", { timeout: LONG }, () => {
  test("Esc sends the one that a call waits for to the background; its end wakes the session, and what was being typed stays", async () => {
    await using repl = await openRepl(waiting(false), BYPASS);
    await repl.type("begin");
    await eventually(() => existsSync(join(repl.home.repo, "started")));
    await repl.key("Escape");
    await repl.sees("Sent a sub-agent to the background");
    await repl.sees("It goes on beside us.");
    await repl.prompt();
    await repl.key("h", "a", "l", "f");
    await repl.sees(/^> half/m);
    await letGo(repl);
    await repl.sees("I heard of it.");
    await repl.sees(/(>|») half\s*$/);
    await repl.key("Enter");
    await eventually(() => repl.model.proxy.captures.at(-1)?.body.includes('"half"') ?? false);
    expect(JSON.stringify(repl.model.requests.at(-1)?.steps)).toContain("The child says");
  });

  test("a question of one in the background gets in before the prompt, with its name", async () => {
    await using repl = await openRepl((conversation) => {
      const { steps } = conversation;
      if (!said(conversation).includes("TASK")) return waiting(true)(conversation);
      return calls(steps, "WriteFile").length === 0
        ? { calls: [{ name: "WriteFile", input: { path: "asked.txt", content: "x\n" } }] }
        : { text: `The child says ${calls(steps, "WriteFile")[0]?.result ?? ""}.` };
    }, {});
    await repl.type("begin");
    await repl.sees(/general-purpose agent-[0-9a-f]{6}: WriteFile\(asked\.txt\)/);
    await repl.key("y", "Enter");
    await repl.sees("I heard of it.");
    expect(await readFile(join(repl.home.repo, "asked.txt"), "utf8")).toBe("x\n");
  });

  test("Ctrl+B sends it there, too; what the end of the session does to it is not said behind the last line", async () => {
    await using repl = await openRepl(waiting(false), BYPASS);
    await repl.type("begin");
    await eventually(() => existsSync(join(repl.home.repo, "started")));
    await repl.key("C-b");
    await repl.sees("Sent a sub-agent to the background.");
    await repl.sees("It goes on beside us.");
    await repl.prompt();
    await repl.type("/exit");
    await repl.sees("ended with 0");
    expect(await repl.screen()).toMatch(/Go on later with: roocode --resume \S+\s+ended with 0/);
  });

  test("Esc leaves the question about the plan, and yes carries it out in mode default", async () => {
    await using repl = await openRepl(
      (conversation) => {
        const { steps } = conversation;
        const since = steps.slice(steps.findLastIndex((step) => step.type === "words" && step.from === "user"));
        const [asked] = calls(since, "ExitPlanMode");
        return asked ? { text: "Carried out." } : { calls: [{ name: "ExitPlanMode", input: { plan: "# My plan" } }] };
      },
      { args: ["--permission-mode", "plan"] },
    );
    await repl.type("plan it");
    await repl.sees("Carry it out?");
    await repl.key("Escape");
    await repl.sees("Interrupted by the user. The plan is not approved");
    await repl.prompt();
    await repl.type("plan it again");
    await repl.sees(/Carry it out\?[\s\S]*Carry it out\?/);
    await repl.type("yes");
    await repl.sees("Carried out.");
    await repl.type("/mode");
    await repl.sees("Mode default.");
  });

  test("the plan is shown; words send it back, a number carries it out in that mode", async () => {
    await using repl = await openRepl(
      (conversation) => {
        const { steps } = conversation;
        const file = /The one exception is the plan file (\S+),/.exec(said(conversation))?.[1] ?? "";
        const done = calls(steps, "ExitPlanMode").length;
        if (calls(steps, "WriteFile").length === 0)
          return { calls: [{ name: "WriteFile", input: { path: file, content: "# My plan\n" } }] };
        if (done < 2) return { calls: [{ name: "ExitPlanMode", input: done === 0 ? {} : { plan: "# A better plan" } }] };
        if (calls(steps, "WriteFile").length === 1)
          return { calls: [{ name: "WriteFile", input: { path: "made.txt", content: "made\n" } }] };
        return { text: "Carried out." };
      },
      { args: ["--permission-mode", "plan"] },
    );
    await repl.type("plan it");
    await repl.sees("# My plan");
    await repl.sees("Carry it out?");
    await repl.type("make it better");
    await repl.sees("# A better plan");
    await repl.sees(/Carry it out\?[\s\S]*Carry it out\?/);
    await repl.type("2");
    await repl.sees("Carried out.");
    expect(await readFile(join(repl.home.repo, "made.txt"), "utf8")).toBe("made\n");
    const results = calls(repl.model.requests.at(-1)?.steps ?? [], "ExitPlanMode").map(({ result }) => result);
    expect(results[0]).toContain("make it better");
    expect(results[1]).toContain("the mode is acceptEdits");
    expect(JSON.stringify(repl.model.requests.at(-1)?.steps)).not.toContain("Plan mode is over: you may");
    await repl.type("/mode");
    await repl.sees("Mode acceptEdits.");
  });
});
