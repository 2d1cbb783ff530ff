import fc from "fast-check";
import { expect, test } from "vitest";
import { parseOpenAI } from "../../../src/engine/providers/openai-stream.ts";
import { collect } from "../../support/streams.ts";

type Fragment = { index: number; id?: string; function: { name?: string; arguments: string } };

async function callsOf(fragments: readonly Fragment[]): Promise<unknown> {
  const frames = [
    ...fragments.map((fragment) => ({ choices: [{ delta: { tool_calls: [fragment] } }] })),
    { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
  ];
  async function* bytes() {
    for (const frame of frames) yield new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`);
  }
  const events = await collect(parseOpenAI(bytes(), { provider: "p", model: "m" }));
  return events.flatMap((event) => (event.type === "tool_end" ? [{ id: event.id, name: event.name, input: event.input }] : []));
}

function inPieces(text: string, size: number): string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
}

test("I14: any interleaving of the pieces of several calls gives the same calls", async () => {
  const call = fc.record({
    name: fc.constantFrom("ReadFile", "Bash", "Grep"),
    input: fc.dictionary(fc.string(), fc.jsonValue()),
    size: fc.integer({ min: 1, max: 9 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 5 }), fc.infiniteStream(fc.nat(100)), async (calls, order) => {
      const queues = calls.map(({ name, input, size }, index): Fragment[] => [
        { index, id: `call_${index}`, function: { name, arguments: "" } },
        ...inPieces(JSON.stringify(input), size).map((piece) => ({ index, function: { arguments: piece } })),
      ]);
      const firsts = queues.flatMap((queue) => queue.splice(0, 1));
      const rest: Fragment[] = [];
      for (let left = queues.filter(({ length }) => length > 0); left.length > 0; left = left.filter(({ length }) => length > 0)) {
        rest.push(...(left[(order.next().value ?? 0) % left.length]?.splice(0, 1) ?? []));
      }
      // JSON has no -0, so what was sent is what JSON makes of it.
      const expected = calls.map(({ name, input }, index) => ({ id: `call_${index}`, name, input: JSON.parse(JSON.stringify(input)) }));
      expect(await callsOf([...firsts, ...rest])).toEqual(expected);
    }),
    { numRuns: 200 },
  );
});

test("two whole calls on one index without ids stay two", async () => {
  const piece = (path: string): Fragment => ({ index: 0, function: { name: "ReadFile", arguments: JSON.stringify({ path }) } });
  expect(await callsOf([piece("a"), piece("b")])).toMatchObject([{ input: { path: "a" } }, { input: { path: "b" } }]);
});

test("a call that never got a name is still one call, with an id", async () => {
  expect(await callsOf([{ index: 0, function: { arguments: "{}" } }])).toEqual([
    { id: expect.stringMatching(/^call_/), name: "unnamed", input: {} },
  ]);
});
