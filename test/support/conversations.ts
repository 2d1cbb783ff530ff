import fc from "fast-check";
import { type AssistantMessage, type Message, NO_ANSWER, type ToolUseBlock, toolCalls, userText } from "../../src/protocol/message.ts";
import { resultBlock, resultsMessage } from "../../src/protocol/results.ts";
import type { SessionEntry } from "../../src/protocol/session.ts";
import { textResult } from "../../src/protocol/tool.ts";
import { checkText } from "../fixtures/tools/check-history.mjs";
import { at } from "./session-entries.ts";

const words = fc.constantFrom("go on", "äöü 重构", "a\u2028b", "x".repeat(50), "<b>&", "😀");

type Round = { order: number[]; reminder: string | undefined; steering: string | undefined; thinks: boolean; speaks: boolean };
type Turn = { prompt: string; rounds: Round[]; answer: string | undefined };

const round: fc.Arbitrary<Round> = fc.record({
  order: fc.integer({ min: 1, max: 4 }).chain((size) =>
    fc.shuffledSubarray(
      Array.from({ length: size }, (_, index) => index),
      { minLength: size },
    ),
  ),
  reminder: fc.option(fc.constant("<system-reminder>mail</system-reminder>"), { nil: undefined }),
  steering: fc.option(words, { nil: undefined }),
  thinks: fc.boolean(),
  speaks: fc.boolean(),
});
const turn: fc.Arbitrary<Turn> = fc.record({
  prompt: words,
  rounds: fc.array(round, { maxLength: 4 }),
  answer: fc.option(words, { nil: undefined }),
});

/** What the loop holds in memory and what it writes meanwhile, for one conversation. */
export type Conversation = { history: Message[]; entries: SessionEntry[] };
export const conversations: fc.Arbitrary<Conversation> = fc.array(turn, { minLength: 1, maxLength: 5 }).map(play);

function play(turns: readonly Turn[]): Conversation {
  const history: Message[] = [];
  const entries: SessionEntry[] = [];
  let next = 0;
  const say = (message: Message) => {
    history.push(message);
    entries.push({ type: "message", at, message });
  };
  for (const { prompt, rounds, answer } of turns) {
    if (history.at(-1)?.role === "user") say({ role: "assistant", provider: "", model: "", content: [{ type: "text", text: NO_ANSWER }] });
    say(userText(prompt));
    for (const { order, reminder, steering, thinks, speaks } of rounds) {
      const calls = order.map((): ToolUseBlock => {
        next += 1;
        return { type: "tool_use", id: `call_${next}`, name: "Echo", input: { next } };
      });
      const message: AssistantMessage = {
        role: "assistant",
        provider: "p",
        model: "m",
        content: [
          ...(thinks ? [{ type: "thinking" as const, text: "Hm.", signature: `s${next}` }] : []),
          ...(speaks ? [{ type: "text" as const, text: "I look." }] : []),
          ...calls,
        ],
      };
      say(message);
      const results = calls.map((call) => resultBlock(call, textResult(`result of ${call.id}`)));
      for (const index of order) {
        const result = results[index];
        if (result) entries.push({ type: "tool_result", at, result });
      }
      history.push(resultsMessage(results, reminder, steering));
      entries.push({ type: "round_end", at, ...(reminder ? { reminder } : {}), ...(steering ? { steering } : {}) });
    }
    if (answer !== undefined) say({ role: "assistant", provider: "p", model: "m", content: [{ type: "text", text: answer }] });
  }
  return { history, entries };
}

type Mutation = (history: Message[], a: number, b: number) => Message[];
const without = <Item>(list: readonly Item[], index: number) => list.filter((_, other) => other !== index);
const swapped = <Item>(list: readonly Item[], a: number, b: number) =>
  list.map((item, index) => (index === a ? (list[b] ?? item) : index === b ? (list[a] ?? item) : item));
const inMessage =
  (change: (content: Message["content"][number][], at: number) => Message["content"][number][]): Mutation =>
  (history, a, b) =>
    history.map((message, index) => {
      if (index !== a) return message;
      // Broken on purpose: blocks may come to stand in a role that does not have them.
      return { ...message, content: change([...message.content], b % Math.max(1, message.content.length)) } as Message;
    });

const MUTATIONS: readonly Mutation[] = [
  (history, a) => without(history, a),
  (history, a) => history.slice(a),
  (history, a) => history.slice(0, a),
  (history, a, b) => swapped(history, a, b),
  (history, a, b) => history.toSpliced(b, 0, ...history.slice(a, a + 1)),
  (history, a, b) => history.toSpliced(b, 0, ...history.slice(a, a + 2)),
  inMessage((content, index) => without(content, index)),
  inMessage((content, index) => [...content, ...content.slice(index, index + 1)]),
  inMessage((content) => content.toReversed()),
  inMessage(() => []),
  (history, a, b) => inMessage((content) => [...content, ...(history[b]?.content ?? [])])(history, a, 0),
];

/** A conversation after up to three accidents. */
export const brokenHistories: fc.Arbitrary<Message[]> = fc
  .tuple(
    conversations,
    fc.array(fc.tuple(fc.nat({ max: MUTATIONS.length - 1 }), fc.nat({ max: 40 }), fc.nat({ max: 40 })), { minLength: 1, maxLength: 3 }),
  )
  .map(([{ history }, mutations]) =>
    mutations.reduce((list, [kind, a, b]) => {
      const size = Math.max(1, list.length);
      return MUTATIONS[kind]?.(list, a % size, b % size) ?? list;
    }, history),
  );

/** What the reference checker calls an error. */
export function errorsOf(history: readonly Message[]): string[] {
  if (history.length === 0) return [];
  const { r } = checkText(history.map((message) => JSON.stringify(message)).join("\n"));
  return r.list.filter(({ level }) => level === "error").map(({ rule, at: place, msg }) => `${rule} at ${place}: ${msg}`);
}

export function callsIn(history: readonly Message[]): ToolUseBlock[] {
  return history.flatMap((message) => (message.role === "assistant" ? toolCalls(message) : []));
}
