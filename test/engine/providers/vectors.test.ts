import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseAnthropic } from "../../../src/engine/providers/anthropic-stream.ts";
import { parseOpenAI } from "../../../src/engine/providers/openai-stream.ts";
import { debugStream } from "../../../src/interaction/commands/debug-stream.ts";
import { toolCalls } from "../../../src/protocol/message.ts";
import type { ModelEvent } from "../../../src/protocol/model.ts";
import { differences } from "../../support/compare-events.ts";
import { collect, inPieces, type SseVector, sseVectors, type VectorEvent } from "../../support/streams.ts";

const VECTORS = sseVectors();
const SPLITS = [Number.POSITIVE_INFINITY, 1, 3, 7, 64, 1000];
const SMALL = VECTORS.filter(({ bytes }) => bytes.length < 10_000);

async function printed(protocol: SseVector["protocol"], bytes: AsyncIterable<Uint8Array>): Promise<VectorEvent[]> {
  const lines: string[] = [];
  await debugStream(protocol, bytes, (line) => lines.push(line));
  return lines.map((line) => JSON.parse(line));
}

function parse(vector: SseVector, bytes: Uint8Array): Promise<ModelEvent[]> {
  const parser = vector.protocol === "anthropic" ? parseAnthropic : parseOpenAI;
  return collect(parser(inPieces(bytes, bytes.length || 1), { provider: "p", model: "m" }));
}

describe("each recorded stream gives its events, however the bytes are split", () => {
  test("there are 69 of them", () => expect(VECTORS).toHaveLength(69));

  for (const vector of VECTORS) {
    test(`${vector.id}: ${vector.quirk}`, async () => {
      for (const size of SPLITS) {
        if (vector.bytes.length > 100_000 && size < 64) continue;
        const pieces = inPieces(vector.bytes, Math.min(size, vector.bytes.length || 1));
        expect({ size, found: differences(vector.events, await printed(vector.protocol, pieces)) }).toEqual({ size, found: [] });
      }
    });
  }
});

test("large arguments in small pieces cost time in proportion to their size", async () => {
  const vector = VECTORS.find(({ id }) => id === "oai-args-large");
  if (!vector) throw new Error("The vector is missing.");
  const started = process.cpuUsage();
  await printed("openai", inPieces(vector.bytes, 1));
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(5000);
});

test("I13: any split of any stream gives the same events as the whole", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...SMALL),
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 60 }),
      async (vector, sizes) => {
        async function* pieces() {
          for (let start = 0, turn = 0; start < vector.bytes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            yield vector.bytes.subarray(start, start + size);
            start += size;
          }
        }
        expect(differences(vector.events, await printed(vector.protocol, pieces()))).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
});

test("I15: a stream that is cut at any byte ends in an error or in the whole message, never in a shortened call", async () => {
  for (const vector of SMALL) {
    const whole = (await parse(vector, vector.bytes)).at(-1);
    if (whole?.type !== "end") throw new Error(`${vector.id} has no end`);
    const calls = callsOf(whole);
    for (let length = 0; length < vector.bytes.length; length += 1) {
      const events = await parse(vector, vector.bytes.subarray(0, length));
      const end = events.at(-1);
      if (end?.type !== "end") throw new Error(`${vector.id} cut at ${length} has no end`);
      if (end.stop === "error") expect([events.at(-2)?.type, toolCalls(end.message)]).toEqual(["error", []]);
      else expect([vector.id, length, end.stop, callsOf(end)]).toEqual([vector.id, length, whole.stop, calls]);
    }
  }
});

function callsOf(end: ModelEvent & { type: "end" }) {
  return toolCalls(end.message).map(({ name, input, malformed }) => ({ name, input, malformed }));
}
