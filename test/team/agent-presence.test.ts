import { expect, test } from "vitest";
import type { AgentEvent } from "../../src/protocol/agent.ts";
import { NO_USAGE, type Spent } from "../../src/protocol/model.ts";
import type { AgentState } from "../../src/protocol/team.ts";
import { AgentPresence, retryText } from "../../src/team/agent-presence.ts";
import { createMemoryTeam } from "../../src/team/bus/memory.ts";
import { sampleTeam } from "./bus/sample-team.ts";

const RETRY = { type: "retry", attempt: 3, max: 8, delayMs: 12_000, kind: "rate_limit" } as const;
const ANSWER: AgentEvent = {
  type: "message",
  message: { role: "assistant", provider: "p", model: "m", content: [{ type: "text", text: "Done." }] },
  usage: { ...NO_USAGE, output: 5 },
};

function observed() {
  const { presence } = createMemoryTeam(sampleTeam("alice")).open({ name: "alice", epoch: 1 });
  let spent: Spent = { usage: NO_USAGE, cost: 0 };
  const agent = new AgentPresence(presence, "alice", () => spent);
  return {
    presence,
    agent,
    spend: (cost: number) => {
      spent = { usage: { ...NO_USAGE, output: 5 }, cost };
    },
    now: async (): Promise<Partial<AgentState> | undefined> => {
      const { at: _, ...state } = (await presence.list())[0] ?? { at: "" };
      return state;
    },
  };
}

test.each<AgentEvent>([
  { type: "turn_start", turn: 2 },
  { type: "stream_text", text: "I" },
  { type: "stream_thinking", text: "hm" },
  ANSWER,
  { type: "loop_complete", reason: "end_turn", text: "", turns: 1, usage: NO_USAGE },
])("a wait for the model is told until the next progress: $type", async (progress) => {
  const { agent, now } = observed();
  agent.observe(RETRY);
  expect(await now()).toMatchObject({ name: "alice", status: "busy", detail: "rate limited: retry 3 of 8 in 12 s" });
  agent.observe({ type: "state", state: "rate_limited" });
  expect(await now()).toHaveProperty("detail");
  agent.observe(progress);
  expect(await now()).toMatchObject({ name: "alice", status: "busy" });
  expect(await now()).not.toHaveProperty("detail");
});

test("what goes on besides leaves a question that the member waits for in its place", async () => {
  const { agent, presence, now } = observed();
  await presence.beat({ name: "alice", status: "waiting", at: "", detail: "an answer: Bash(make)" });
  agent.observe({ type: "tool_use", call: { type: "tool_use", id: "1", name: "Bash", input: {} } });
  expect(await now()).toMatchObject({ status: "waiting", detail: "an answer: Bash(make)" });
});

test("each answer tells what was spent, and a beat that tells nothing of it leaves it", async () => {
  const { agent, presence, spend, now } = observed();
  spend(0.25);
  agent.observe(ANSWER);
  expect(await now()).toMatchObject({ status: "busy", spent: { cost: 0.25 } });
  await presence.beat({ name: "alice", status: "idle", at: "" });
  expect(await now()).toEqual({ name: "alice", status: "idle", spent: { usage: { ...NO_USAGE, output: 5 }, cost: 0.25 } });
});

test("who works in a member's stead is named, and a request that is made otherwise at once is no wait", async () => {
  const { agent, now } = observed();
  agent.observe({ ...RETRY, reason: "without temperature" });
  expect(await now()).toEqual({});
  agent.observe({ ...RETRY, kind: "overloaded", delayMs: 500 }, "integrator");
  expect(await now()).toMatchObject({ detail: "integrator: model overloaded: retry 3 of 8 in 0.5 s" });
  expect(retryText({ ...RETRY, kind: "network" })).toBe("network error: retry 3 of 8 in 12 s");
});
