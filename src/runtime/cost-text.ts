import type { Spent, Usage } from "../protocol/model.ts";

/** `1234 tokens in (1000 cached), 56 out, $0.0123`. */
export function costText({ usage, cost, isPriced }: { usage: Usage; cost: number; isPriced: boolean }): string {
  const { input, output, cacheRead, cacheWrite } = usage;
  const cached = cacheRead > 0 ? ` (${cacheRead} cached)` : "";
  const money = isPriced ? dollars(cost) : cost > 0 ? `${dollars(cost)} and what a model without a known price took` : "price unknown";
  return `${input + cacheRead + cacheWrite} tokens in${cached}, ${output} out, ${money}`;
}

export function spentText({ usage, cost }: Spent): string {
  return costText({ usage, cost: cost ?? 0, isPriced: cost !== undefined });
}

/** `12k tokens $0.034`, for a line that holds more; nothing where nothing was spent. */
export function briefSpent({ usage, cost }: Spent): string | undefined {
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
  if (tokens === 0) return undefined;
  const count = tokens < 1_000 ? String(tokens) : `${(tokens / 1_000).toFixed(tokens < 10_000 ? 1 : 0)}k`;
  return `${count} tokens${cost === undefined ? "" : ` ${dollars(cost)}`}`;
}

/** Small sums keep two digits that say something. */
export function dollars(cost: number): string {
  return `$${cost >= 1 || cost === 0 ? cost.toFixed(2) : cost.toPrecision(2)}`;
}
