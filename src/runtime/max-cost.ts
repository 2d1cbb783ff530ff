import { UserError } from "../protocol/errors.ts";
import type { Prices } from "../protocol/model.ts";
import type { Spending } from "./spending.ts";

/** Says when what was spent from here on has reached the cap. A model without a price can't be kept under one. */
export function costCap(maxCost: number | undefined, spending: Spending, model: { id: string; prices: Prices | undefined }) {
  if (maxCost === undefined) return async () => undefined;
  if (!model.prices)
    throw new UserError(
      `--max-cost can't be kept: nobody knows what ${model.id} costs. Give it in the settings: providers: [{name: …, models: [{id: ${model.id}, prices: {input: …, output: …, cacheRead: …, cacheWrite: …}}]}].`,
    );
  const before = spending.cost;
  return async () => {
    const spent = spending.cost - before;
    return spent < maxCost ? undefined : `Stopped: this has cost $${spent.toFixed(4)}, and --max-cost is $${maxCost}.`;
  };
}
