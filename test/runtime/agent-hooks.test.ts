import { expect, test } from "vitest";
import type { HookAgent, HookEvent, HookOutcome } from "../../src/protocol/hook.ts";
import { AgentHooks } from "../../src/runtime/agent-hooks.ts";
import { compacted, compactor, SUMMARY, scripted, work } from "../support/compacting.ts";

const signal = new AbortController().signal;

/** The hooks of one conversation, which say what `answer` gives; keeps what was fired. */
function opened(answer: (event: HookEvent) => HookOutcome | Promise<HookOutcome> = () => ({}), subagent?: { prompt: string }) {
  const fired: HookEvent[] = [];
  const agents: HookAgent[] = [];
  const notes: string[] = [];
  const hooks = new AgentHooks(
    {
      agentType: "main",
      ...(subagent ? { subagent } : {}),
      hooks: {
        of(agent) {
          agents.push(agent);
          return async (event) => {
            fired.push(event);
            return answer(event);
          };
        },
      },
    },
    {
      request: { name: "main", sessionId: "s", sessionPath: "/s.jsonl", mode: () => "plan" },
      shell: { cwd: "/w" },
      note: (text) => notes.push(text),
    },
  );
  return { hooks, fired, agents, notes };
}

const QUESTION = { agent: "main", tool: "Bash", access: { kind: "command", subject: "npm test" } } as const;
const ASKED = { decision: "ask", sticky: true, layer: "mode", reason: "the mode asks" } as const;

test("a session begins and ends, a sub-agent only begins; each event knows whose it is", async () => {
  const main = opened();
  await main.hooks.start(true);
  await main.hooks.end(3);
  expect(main.fired).toEqual([
    { event: "session_start", source: "resume" },
    { event: "session_end", turns: 3 },
  ]);
  const [agent] = main.agents;
  expect({ ...agent, cwd: agent?.cwd(), mode: agent?.mode?.() }).toMatchObject({
    agent: "main",
    agentType: "main",
    session: "s",
    transcript: "/s.jsonl",
    cwd: "/w",
    mode: "plan",
  });
  const sub = opened(() => ({}), { prompt: "Look." });
  await sub.hooks.start(false);
  await sub.hooks.end(1);
  expect(sub.fired).toEqual([{ event: "subagent_start", prompt: "Look." }]);
});

test("permission_request: a hook hears what is asked and why, and answers before anybody is asked", async () => {
  const { hooks, fired } = opened(() => ({ block: "not now" }));
  expect(await hooks.beforeAsk(QUESTION, ASKED, signal)).toEqual({ decision: "deny", reason: "a hook refused this call. not now" });
  expect(fired).toEqual([{ event: "permission_request", tool: "Bash", subject: "npm test", reason: "the mode asks", isSticky: true }]);
  expect(await opened().hooks.beforeAsk(QUESTION, ASKED, signal)).toBeUndefined();
});

test("notification: a hook hears that a person is waited for; the question does not wait for the hook", async () => {
  const { hooks, fired } = opened(() => new Promise<HookOutcome>(() => undefined));
  expect(await hooks.notifying(async () => "yes")?.(QUESTION, ASKED, signal)).toBe("yes");
  expect(fired).toEqual([{ event: "notification", kind: "permission", message: "Bash(npm test): the mode asks" }]);
  expect(hooks.notifying(undefined)).toBeUndefined();
});

test("pre_compact: its words are for the request for the summary alone; post_compact tells what came of it", async () => {
  const { hooks, fired } = opened(({ event }) =>
    event === "pre_compact" ? { context: "Keep the port number." } : { context: "Read a.ts." },
  );
  const { ask, requests } = scripted(() => SUMMARY);
  const { outcome } = await compacted(hooks.around(compactor({ ask })), work(), { trigger: "manual", focus: "the tests" });
  expect(JSON.stringify(requests)).toMatch(/the tests\\nKeep the port number\./);
  expect(fired).toEqual([
    { event: "pre_compact", trigger: "manual" },
    { event: "post_compact", trigger: "manual", ...("failed" in outcome ? {} : pick(outcome)) },
  ]);
  expect(hooks.takeContext()).toBe("Read a.ts.");
  expect(hooks.takeContext()).toBeUndefined();
});

test("post_compact: is not fired when nothing was compacted", async () => {
  const { hooks, fired } = opened();
  await compacted(hooks.around(compactor()), work(), { signal: AbortSignal.abort() });
  expect(fired.map(({ event }) => event)).toEqual(["pre_compact"]);
});

test("subagent_stop: keeps a sub-agent at work with the reason, eight times in a run, and is told that it did so", async () => {
  const { hooks, fired, notes } = opened(() => ({ block: "tests are red" }), { prompt: "Look." });
  const goesOn = async () => (await hooks.beforeEnd("Done.", signal)) !== undefined;
  expect(await hooks.beforeEnd("Done.", signal)).toContain("tests are red");
  for (let time = 2; time <= 8; time += 1) expect(await goesOn()).toBe(true);
  expect(await goesOn()).toBe(false);
  expect(notes).toEqual([expect.stringContaining("A hook of subagent_stop kept the agent from ending 8 times")]);
  expect(fired.slice(0, 2)).toEqual([
    { event: "subagent_stop", text: "Done.", isAgain: false },
    { event: "subagent_stop", text: "Done.", isAgain: true },
  ]);
  hooks.begin();
  expect(await goesOn()).toBe(true);
});

test("a hook of a call ends the run, one of an end does not, and a new run begins without it", async () => {
  const { hooks } = opened(() => ({ halt: "enough" }));
  await hooks.fire({ event: "stop", text: "", isAgain: false }, signal);
  expect(hooks.halted()).toBeUndefined();
  await hooks.fire({ event: "pre_tool_use", tool: "Bash", input: {}, callId: "c" }, signal);
  expect(hooks.halted()).toBe("enough");
  hooks.begin();
  expect(hooks.halted()).toBeUndefined();
});

function pick({ mode, tokensBefore, tokensAfter }: { mode: string; tokensBefore: number; tokensAfter: number }) {
  return { mode, tokensBefore, tokensAfter };
}
