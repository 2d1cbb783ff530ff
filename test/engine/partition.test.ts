import fc from "fast-check";
import { expect, test } from "vitest";
import { partition } from "../../src/engine/partition.ts";
import type { ToolUseBlock } from "../../src/protocol/message.ts";

test("I16: batches keep the order of the calls, never mix safe and unsafe ones, and are no larger than the cap", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 40 }), fc.integer({ min: 1, max: 12 }), (safe, cap) => {
      const calls = safe.map((_, index): ToolUseBlock => ({ type: "tool_use", id: String(index), name: "T", input: {} }));
      const batches = partition(calls, ({ id }) => safe[Number(id)] ?? false, cap);
      expect(batches.flatMap((batch) => batch.calls)).toEqual(calls);
      for (const { concurrent, calls: together } of batches) {
        for (const { id } of together) expect(safe[Number(id)]).toBe(concurrent);
        expect(together.length).toBeLessThanOrEqual(concurrent ? cap : 1);
      }
      // As few batches as the order allows.
      for (const [index, batch] of batches.entries()) {
        const before = batches[index - 1];
        if (before?.concurrent && batch.concurrent) expect(before.calls).toHaveLength(cap);
      }
    }),
    { numRuns: 1_000 },
  );
});
