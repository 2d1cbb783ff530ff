import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toAnthropicBody } from "../../src/engine/providers/anthropic-body.ts";
import { compatOf } from "../../src/engine/providers/compat.ts";
import { toOpenAIBody } from "../../src/engine/providers/openai-body.ts";
import { rebuildHistory } from "../../src/memory/repair.ts";
import { findFault, validateHistory } from "../../src/memory/validate.ts";
import { type AssistantMessage, type Message, messageText, userText } from "../../src/protocol/message.ts";
import { resultBlock, resultsMessage } from "../../src/protocol/results.ts";
import { textResult } from "../../src/protocol/tool.ts";
import { checkBody } from "../fixtures/tools/check-history.mjs";
import { brokenHistories, callsIn, conversations, errorsOf } from "../support/conversations.ts";
import { modelRequest } from "../support/requests.ts";

const RUNS = { numRuns: 1_000 };
const assistant = (...content: AssistantMessage["content"]): AssistantMessage => ({
  role: "assistant",
  provider: "p",
  model: "m",
  content,
});
const call = (id: string, input: Record<string, unknown> = {}) => ({ type: "tool_use" as const, id, name: "Bash", input });
const said = (text: string) => assistant({ type: "text", text });
const results = (...ids: string[]) =>
  resultsMessage(
    ids.map((id) => resultBlock({ id }, textResult(id))),
    undefined,
  );

describe("every history", () => {
  test("I1: is legal after validation, whatever happened to it", () => {
    fc.assert(
      fc.property(brokenHistories, (broken) => {
        const { history } = validateHistory(broken);
        expect(errorsOf(history)).toEqual([]);
        expect(findFault(history)).toBeUndefined();
      }),
      RUNS,
    );
  });

  test("I5: makes bodies that both protocols take", () => {
    const options = { provider: "p" };
    fc.assert(
      fc.property(brokenHistories, (broken) => {
        const request = modelRequest({ model: "m", messages: validateHistory(broken).history });
        const bodies = [toAnthropicBody(request, options), toOpenAIBody(request, { ...options, compat: compatOf("") })];
        return bodies.every((body) => (checkBody(body)?.list ?? []).every(({ level }) => level !== "error"));
      }),
      RUNS,
    );
  });

  test("I2: validated a second time stays the same array", () => {
    fc.assert(
      fc.property(brokenHistories, (broken) => {
        const once = validateHistory(broken).history;
        expect(validateHistory(once)).toEqual({ history: once, notes: [] });
        expect(validateHistory(once).history).toBe(once);
      }),
      RUNS,
    );
  });

  test("I3: that is valid comes back as the very same array", () => {
    fc.assert(
      fc.property(conversations, ({ history }) => {
        const validated = validateHistory(history);
        expect(validated.history).toBe(history);
        expect(validated.notes).toEqual([]);
        expect(errorsOf(history)).toEqual([]);
      }),
      RUNS,
    );
  });

  test("I4: keeps a beginning as it is; only marks of unanswered turns, results of the last round and a reminder come to it", () => {
    fc.assert(
      fc.property(brokenHistories, (broken) => {
        const kept = validateHistory(broken).history.filter((message) => messageText(message) !== NO_ANSWER_MARK);
        const before = broken.filter((message) => messageText(message) !== NO_ANSWER_MARK);
        const changed = kept.findIndex((message, index) => message !== before[index]);
        expect(changed === -1 || changed === kept.length - 1).toBe(true);
      }),
      RUNS,
    );
  });

  test("I6: has no call id twice", () => {
    fc.assert(
      fc.property(brokenHistories, (broken) => {
        const ids = callsIn(validateHistory(broken).history).map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
      }),
      RUNS,
    );
  });

  test("what the reference checker calls an error is a fault, and a valid beginning need not be looked at again", () => {
    fc.assert(
      fc.property(brokenHistories, fc.nat({ max: 10 }), (broken, from) => {
        if (errorsOf(broken).length > 0) expect(findFault(broken)).toBeDefined();
        if (findFault(broken.slice(0, from)) === undefined) expect(findFault(broken, from)).toBe(findFault(broken));
      }),
      RUNS,
    );
  });

  test("comes back from the entries that the loop writes, byte for byte", () => {
    fc.assert(
      fc.property(conversations, ({ history, entries }) => {
        const rebuilt = rebuildHistory(entries);
        expect(JSON.stringify(rebuilt.history)).toBe(JSON.stringify(history));
        expect(rebuilt).toMatchObject({ added: [], notes: [] });
      }),
      RUNS,
    );
  });
});

const NO_ANSWER_MARK = "[This turn ended before it was answered.]";

describe("a fault", () => {
  const begun = [userText("go"), assistant(call("a")), results("a")];

  test("in the last round is answered: open calls get an honest error, the person's words stay behind it", () => {
    const open: Message[] = [...begun, assistant(call("b"), call("c")), userText("wait")];
    const { history, notes } = validateHistory(open);
    expect(history.at(-1)?.content).toMatchObject([
      { toolUseId: "b", isError: true, content: [{ text: expect.stringContaining("may have taken effect") }] },
      { toolUseId: "c", isError: true },
      { type: "text", text: "wait" },
    ]);
    expect(notes[0]).toContain("Bash");
  });

  test("elsewhere cuts back to the last complete round, and the model is told the calls inside the last result", () => {
    const broken: Message[] = [
      ...begun,
      assistant(call("b", { command: "npm publish <now>" })),
      said("lost"),
      userText("more"),
      said("done"),
    ];
    const { history, notes } = validateHistory(broken);
    expect(history.slice(0, 2)).toEqual(begun.slice(0, 2));
    expect(history).toHaveLength(3);
    expect(JSON.stringify(history[2])).toMatch(/system-reminder.*npm publish/);
    expect(history[2]?.content).toHaveLength(1);
    expect(notes.join()).toContain("npm publish");
    expect(notes.join()).not.toContain("<now>");
  });

  test("behind a finished turn puts the reminder into a message of its own, which a next prompt may follow", () => {
    const broken: Message[] = [userText("go"), said("done"), userText("next"), assistant(call("x")), assistant(call("y"))];
    const { history } = validateHistory([...broken.slice(0, 2), said("again"), ...broken.slice(2)]);
    expect(history.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(messageText(history[2] ?? userText(""))).toContain("Bash");
  });

  test("of two prompts in a row is no reason to cut: the missing answer is marked, as the loop marks it", () => {
    const { history } = validateHistory([userText("one"), userText("two"), said("both")]);
    expect(history.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });
});

test("an answer behind one that the server paused is legal, behind any other it is not", () => {
  const paused = assistant({ type: "text", text: "Searching." }, { type: "opaque", provider: "p", raw: { type: "server_tool_use" } });
  expect(findFault([userText("go"), paused, said("found")])).toBeUndefined();
  expect(findFault([userText("go"), said("one"), said("two")])).toContain("two answers");
  const redacted = assistant(
    { type: "opaque", provider: "p", raw: { type: "redacted_thinking", data: "x" } },
    { type: "text", text: "one" },
  );
  expect(findFault([userText("go"), redacted, said("two")])).toContain("two answers");
});

test("twenty thousand messages are looked through in a few milliseconds", () => {
  const history = Array.from({ length: 20_000 }, (_, index): Message => (index % 2 === 0 ? userText("go") : said("done")));
  findFault(history);
  const started = performance.now();
  findFault(history, 19_998);
  expect(performance.now() - started).toBeLessThan(100);
});
