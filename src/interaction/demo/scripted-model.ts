import type { Answer, Conversation, Role } from "./conversation.ts";
import { integratorTurn } from "./integrator-script.ts";
import { leadTurn } from "./lead-script.ts";
import { type ModelServer, serveAnswers } from "./model-server.ts";
import type { Plan } from "./plan.ts";
import { workerTurn } from "./worker-script.ts";

export type ScriptedModelOptions = {
  plan: Plan;
  /** Before each answer. */
  latencyMs?: number;
  log?: (line: { role: Role; answer: Answer }) => void;
};

/** A server on loopback that plays the plan in both protocols. Answers come from the request alone, so a retry gets the same again. */
export async function startScriptedModel({ plan, latencyMs = 0, log }: ScriptedModelOptions): Promise<ModelServer> {
  return serveAnswers((conversation) => {
    const answer = scriptedTurn(plan, conversation);
    log?.({ role: conversation.role, answer });
    return answer;
  }, latencyMs);
}

export function scriptedTurn(plan: Plan, { role, steps }: Conversation): Answer {
  switch (role.type) {
    case "lead":
      return leadTurn(plan, steps);
    case "worker":
      return workerTurn(plan, role.name, steps);
    case "integrator":
      return integratorTurn(plan, steps);
    case "main":
      return { text: `[${plan.label}] ${plan.words.main}` };
  }
}
