import { selectModel } from "../engine/providers/select.ts";
import type { Spent } from "../protocol/model.ts";
import type { TeamBus } from "../protocol/team.ts";
import { dollars } from "./cost-text.ts";
import { requireKnownPrice } from "./max-cost.ts";
import type { Surroundings } from "./surroundings.ts";

/** For `overBudget` of a member's agent: a sentence once all members together have reached the team's cap. */
export function teamBudget({ roster, presence }: TeamBus, self: string, ownSpent: () => Spent): () => Promise<string | undefined> {
  return async () => {
    // Read each time: a lead that resumes the team may raise it.
    const { maxCost } = await roster.read();
    if (maxCost === undefined) return undefined;
    const others = (await presence.list()).filter((state) => state.name !== self);
    const cost = [ownSpent(), ...others.map((state) => state.spent)].reduce((sum, spent) => sum + (spent?.cost ?? 0), 0);
    return cost >= maxCost ? `Stopped: the team has cost ${dollars(cost)}; its cap is $${maxCost}.` : undefined;
  };
}

/** A cap that can't be held is refused before anything is spent. `model` as it is asked for, or nothing for the default. */
export function requirePrice(surroundings: Surroundings, maxCost: number | undefined, model: string | undefined): void {
  if (maxCost === undefined) return;
  const { env, settings, flags } = surroundings;
  const fallback = flags.fallbackModel ?? settings.fallbackModel;
  for (const wanted of [model ?? env.ROOCODE_MODEL ?? settings.model, ...(fallback === undefined ? [] : [fallback])])
    requireKnownPrice(selectModel({ providers: settings.providers ?? [], model: wanted, env }));
}
