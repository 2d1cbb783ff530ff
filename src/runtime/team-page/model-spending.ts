import { addSpent, NOTHING_SPENT, type Spent, type Usage } from "../../protocol/model.ts";
import type { TeamEvent } from "../../protocol/team.ts";

export type ModelSpent = { agent: string; model: string; answers: number; spent: Spent };

/** What each agent took of each model, as the log has it: without what its sub-agents took. */
export class ModelSpending {
  readonly #rows = new Map<string, ModelSpent>();
  readonly #lastModel = new Map<string, string>();

  see({ agent, event }: TeamEvent): void {
    if (event.type === "message" && "message" in event && event.message.role === "assistant") {
      this.#lastModel.set(agent, event.message.model);
      if (event.usage) this.#add(agent, event.usage, event.cost, 1);
    } else if (event.type === "spent" || event.type === "compacted") this.#add(agent, event.usage, event.cost, 0);
  }

  get rows(): ModelSpent[] {
    return [...this.#rows.values()];
  }

  /** A summary is written by the model of the answers around it. */
  #add(agent: string, usage: Usage, cost: number | undefined, answers: number): void {
    const model = this.#lastModel.get(agent) ?? "unknown";
    const key = `${agent}\0${model}`;
    const row = this.#rows.get(key) ?? { agent, model, answers: 0, spent: NOTHING_SPENT };
    const added: Spent = cost === undefined ? { usage } : { usage, cost };
    this.#rows.set(key, { ...row, answers: row.answers + answers, spent: addSpent(row.spent, added) });
  }
}
