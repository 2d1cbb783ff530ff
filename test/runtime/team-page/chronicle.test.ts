import { expect, test } from "vitest";
import type { AssistantMessage } from "../../../src/protocol/message.ts";
import { NO_USAGE } from "../../../src/protocol/model.ts";
import type { TeamEvent } from "../../../src/protocol/team.ts";
import { MOST_MESSAGES, TeamChronicle } from "../../../src/runtime/team-page/chronicle.ts";
import { countDecisions } from "../../../src/runtime/team-page/decisions.ts";

const START = Date.parse("2026-01-01T10:00:00.000Z");
const at = (seconds: number) => START + seconds * 1000;

function chronicleOf(...events: [seconds: number, agent: string, event: TeamEvent["event"]][]): TeamChronicle {
  const chronicle = new TeamChronicle();
  for (const [seconds, agent, event] of events) chronicle.add({ at: new Date(at(seconds)).toISOString(), agent, event });
  return chronicle;
}

const turn = (number = 1) => ({ type: "turn_start", turn: number }) as const;
const over = { type: "loop_complete", reason: "end_turn", text: "", turns: 1, usage: NO_USAGE } as const;
const task = (status: "in_progress" | "completed" | "pending", owner?: string) =>
  ({ type: "task", id: "1", status, subject: "Write a", ...(owner ? { owner } : {}) }) as const;

test("a member is at work from the first turn of a run to its end; one that runs still, to now", () => {
  const { busy } = chronicleOf([0, "alice", turn()], [4, "alice", over], [9, "alice", turn()], [10, "bob", turn()], [11, "bob", over]);
  expect(busy.agents).toEqual(["alice", "bob"]);
  expect(busy.of("alice", at(20))).toEqual([
    { from: at(0), to: at(4) },
    { from: at(9), to: at(20) },
  ]);
  expect(busy.of("bob", at(20))).toEqual([{ from: at(10), to: at(11) }]);
});

test("of one that died, or whose lead was killed, the last sign counts, not the time until it was seen", () => {
  const died = chronicleOf([0, "alice", turn()], [2, "alice", turn(2)], [60, "lead", { type: "dead", name: "alice", how: "SIGKILL" }]);
  expect(died.busy.of("alice", at(100))).toEqual([{ from: at(0), to: at(2) }]);
  const resumed = chronicleOf(
    [0, "lead", turn()],
    [1, "lead", turn(2)],
    [90, "lead", { type: "backend", kind: "process", reason: "asked for" }],
    [91, "lead", turn()],
    [92, "lead", over],
  );
  expect(resumed.busy.of("lead", at(100))).toEqual([
    { from: at(0), to: at(1) },
    { from: at(91), to: at(92) },
  ]);
});

test("a task has a claim for each owner: how it went, and when it went on to another", () => {
  const { claims } = chronicleOf(
    [0, "lead", task("pending")],
    [1, "alice", task("in_progress", "alice")],
    [2, "alice", task("in_progress", "alice")],
    [5, "lead", { type: "dead", name: "alice", how: "SIGKILL" }],
    [6, "bob", task("in_progress", "bob")],
    [9, "bob", task("completed", "bob")],
    [10, "lead", task("pending")],
    [12, "carol", task("in_progress", "carol")],
  );
  expect(claims.byTask(at(20)).get("1")).toEqual([
    { task: "1", owner: "alice", from: at(1), to: at(5), end: "died" },
    { task: "1", owner: "bob", from: at(6), to: at(9), end: "completed" },
    { task: "1", owner: "carol", from: at(12), to: at(20) },
  ]);
});

test("a message has the text of the call that sent it; of more messages than are kept, the newest stay and all are counted", () => {
  const call = {
    type: "tool_use",
    id: "1",
    name: "SendMessage",
    input: { to: "bob", summary: "it changed", message: "The whole text" },
  } as const;
  const step = { type: "message", from: "alice", to: "bob", summary: "it changed", kind: "message" } as const;
  const one = chronicleOf([0, "alice", { type: "tool_use", call }], [1, "alice", step], [2, "bob", { ...step, from: "bob", to: "alice" }]);
  expect(one.messages.map(({ from, text }) => [from, text])).toEqual([
    ["alice", "The whole text"],
    ["bob", undefined],
  ]);
  const many = new TeamChronicle();
  for (let index = 0; index < 5000; index++)
    many.add({ at: new Date(at(index)).toISOString(), agent: "alice", event: { ...step, summary: `number ${index}` } });
  expect(many.messageCount).toBe(5000);
  expect(many.messages.slice(-MOST_MESSAGES)).toHaveLength(MOST_MESSAGES);
  expect(many.messages.at(-1)?.summary).toBe("number 4999");
});

test("what each member took is counted by model; a summary counts to the model before it, and one unknown price makes the sum unknown", () => {
  const usage = { input: 10, output: 2, cacheRead: 5, cacheWrite: 0 };
  const message = (model: string): AssistantMessage => ({ role: "assistant", provider: "p", model, content: [] });
  const { spending } = chronicleOf(
    [0, "alice", { type: "message", message: message("big"), usage, cost: 0.5 }],
    [1, "alice", { type: "spent", usage, cost: 0.25 }],
    [2, "alice", { type: "message", message: message("small"), usage }],
  );
  expect(spending.rows).toEqual([
    { agent: "alice", model: "big", answers: 1, spent: { usage: { input: 20, output: 4, cacheRead: 10, cacheWrite: 0 }, cost: 0.75 } },
    { agent: "alice", model: "small", answers: 1, spent: { usage } },
  ]);
});

test("the end of a run is the outcome until the team is resumed", () => {
  const ended = { type: "ended", exitCode: 3, text: "One is left." } as const;
  expect(chronicleOf([0, "lead", ended]).outcome).toMatchObject({ exitCode: 3, text: "One is left." });
  expect(chronicleOf([0, "lead", ended], [9, "lead", { type: "backend", kind: "tmux", reason: "" }]).outcome).toBeUndefined();
});

test("decisions are counted by the layer that made them, questions by the layer that asked; denials and questions are kept one by one", () => {
  const line = { at: "2026-01-01T10:00:00Z", agent: "alice", tool: "Bash", subject: "ls" };
  const found = countDecisions([
    { ...line, decision: "allow", layer: "mode" },
    { ...line, decision: "deny", layer: "danger", subject: "rm -rf /" },
    { ...line, decision: "allow", layer: "human", subject: "make", asked: { layer: "mode", reason: "command asks" } },
  ]);
  expect(found.layers).toEqual([
    { layer: "danger", allowed: 0, denied: 1, asked: 0 },
    { layer: "human", allowed: 1, denied: 0, asked: 0 },
    { layer: "mode", allowed: 1, denied: 0, asked: 1 },
  ]);
  expect(found.notable.map(({ subject }) => subject)).toEqual(["rm -rf /", "make"]);
});
