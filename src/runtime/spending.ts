import type { AgentEvent } from "../protocol/agent.ts";
import { addUsage, costOf, NOTHING_SPENT, type Prices, type Spent, type Usage } from "../protocol/model.ts";

type PricedModel = { id: string; pricesOf: (model: string) => Prices | undefined };

/** Tokens and money spent on a conversation, in all its runs; begins with what was spent before this process. */
export class Spending {
  #usage: Usage;
  #cost: number;
  #isPriced: boolean;
  readonly #whole: Spending | undefined;

  /** `whole`: what this is a part of; it counts what is added here. */
  constructor({ usage, cost }: Spent = NOTHING_SPENT, whole?: Spending) {
    this.#whole = whole;
    this.#usage = usage;
    this.#cost = cost ?? 0;
    this.#isPriced = cost !== undefined || isNothing(usage);
  }

  get usage(): Usage {
    return this.#usage;
  }

  /** US dollars; what models without a price took is not in it. */
  get cost(): number {
    return this.#cost;
  }

  /** False once a model without a known price was used. */
  get isPriced(): boolean {
    return this.#isPriced;
  }

  get spent(): Spent {
    return { usage: this.#usage, ...(this.#isPriced ? { cost: this.#cost } : {}) };
  }

  add(usage: Usage, prices: Prices | undefined): number | undefined {
    const cost = costOf(usage, prices);
    this.#whole?.add(usage, prices);
    this.#usage = addUsage(this.#usage, usage);
    this.#cost += cost ?? 0;
    if (cost === undefined) this.#isPriced = false;
    return cost;
  }

  /** What others have spent, who count by themselves. */
  addSpent({ usage, cost }: Spent): void {
    this.#whole?.addSpent({ usage, ...(cost === undefined ? {} : { cost }) });
    this.#usage = addUsage(this.#usage, usage);
    this.#cost += cost ?? 0;
    if (cost === undefined && !isNothing(usage)) this.#isPriced = false;
  }

  /** The event with what it cost; counts what it brings. `before` is what had been spent when its run began. */
  priced(event: AgentEvent, { id, pricesOf }: PricedModel, before: number): AgentEvent {
    if (event.type === "message" && event.usage && event.message.role === "assistant")
      return { ...event, ...costField(this.add(event.usage, pricesOf(event.message.model))) };
    if (event.type === "compacted" || event.type === "spent") return { ...event, ...costField(this.add(event.usage, pricesOf(id))) };
    if (event.type === "loop_complete" && this.#isPriced) return { ...event, cost: this.#cost - before };
    return event;
  }
}

function isNothing({ input, output, cacheRead, cacheWrite }: Usage): boolean {
  return input + output + cacheRead + cacheWrite === 0;
}

function costField(cost: number | undefined): { cost?: number } {
  return cost === undefined ? {} : { cost };
}
