import { expect, test } from "vitest";
import { addSpent, NO_USAGE, NOTHING_SPENT, spentSince } from "../../src/protocol/model.ts";
import { Spending } from "../../src/runtime/spending.ts";

const USAGE = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 };
const PRICES = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 };

test("a conversation that goes on counts on from what its session holds", () => {
  const spending = new Spending({ usage: USAGE, cost: 3 });
  spending.add(USAGE, PRICES);
  expect(spending.spent).toEqual({ usage: { ...USAGE, input: 20, output: 10 }, cost: 13 });
});

test("one answer without a known price leaves the sum without one, before a resume or after", () => {
  const before = new Spending({ usage: USAGE });
  before.add(USAGE, PRICES);
  expect(before).toMatchObject({ isPriced: false, cost: 10 });
  expect(before.spent).toEqual({ usage: { ...USAGE, input: 20, output: 10 } });
  const after = new Spending();
  after.add(USAGE, undefined);
  expect(after.spent).toEqual({ usage: USAGE });
});

test("a session without an answer has cost nothing", () => {
  expect(new Spending({ usage: NO_USAGE }).spent).toEqual(NOTHING_SPENT);
});

test("sums and differences have a price where both sides have one", () => {
  const one = { usage: USAGE, cost: 1 };
  expect(addSpent(one, one)).toEqual({ usage: { ...USAGE, input: 20, output: 10 }, cost: 2 });
  expect(addSpent(one, { usage: USAGE })).toEqual({ usage: { ...USAGE, input: 20, output: 10 } });
  expect(spentSince(addSpent(one, one), one)).toEqual(one);
  expect(spentSince(one, { usage: NO_USAGE })).toEqual({ usage: USAGE });
});
