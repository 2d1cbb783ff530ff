import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Answer, Conversation } from "../../src/interaction/demo/conversation.ts";
import { type PlanInput, readPlan } from "../../src/interaction/demo/plan.ts";
import { scriptedTurn } from "../../src/interaction/demo/scripted-model.ts";
import type { FakeModel } from "./fake-model.ts";
import type { TestHome } from "./home.ts";

/** By the prices of `pricedSettings` one dollar. */
export const ONE_DOLLAR = { input: 1_000, output: 100 };

/** Each answer costs one dollar. */
export function dollarAnswers(plan: PlanInput): (conversation: Conversation) => Answer {
  const read = readPlan(plan);
  return (conversation) => ({ ...scriptedTurn(read, conversation), usage: ONE_DOLLAR });
}

/** The model is one whose prices are known. */
export async function pricedSettings(home: TestHome, model: FakeModel): Promise<void> {
  await mkdir(home.data, { recursive: true });
  const prices = "prices: { input: 500, output: 5000 }";
  await writeFile(
    join(home.data, "config.yaml"),
    `model: mine/m\nproviders:\n  - { name: mine, protocol: anthropic, baseUrl: "${model.proxy.anthropicUrl}", models: [{ id: m, ${prices} }] }\n`,
  );
}
