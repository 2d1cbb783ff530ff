import type { SelectedModel } from "../engine/providers/select.ts";
import { UserError } from "../protocol/errors.ts";
import { dollars } from "./cost-text.ts";
import type { Spending } from "./spending.ts";

/** A cap can't be kept over what nobody knows the price of. */
export function requireKnownPrice({ provider, model, prices }: Pick<SelectedModel, "provider" | "model" | "prices">): void {
  if (prices) return;
  throw new UserError(
    `--max-cost needs a price, and that of ${provider}/${model} is not known. Give it in ~/.roocode/config.yaml, in US dollars for a million tokens: providers: [{ name: ${provider}, models: [{ id: ${JSON.stringify(model)}, prices: { input: 3, output: 15 } }] }]`,
  );
}

/** Says when what is spent from here on has reached the cap; asked before each model call, so the last one may go over it. */
export function costCap(maxCost: number | undefined, spending: Spending, selected: SelectedModel): () => Promise<string | undefined> {
  if (maxCost === undefined) return async () => undefined;
  requireKnownPrice(selected);
  const { cost: before, isPriced: wasPriced } = spending;
  return async () => {
    if (wasPriced && !spending.isPriced) return "Stopped: a model without a known price answered, so --max-cost can't be kept.";
    const spent = spending.cost - before;
    return spent < maxCost ? undefined : `Stopped: this has cost ${dollars(spent)}; --max-cost is $${maxCost}.`;
  };
}
