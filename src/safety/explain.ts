import type { PermissionDecision, PermissionRequest } from "../protocol/permission.ts";
import { decide } from "./decide.ts";
import type { DecisionContext } from "./layer-votes.ts";
import { narrowestRules } from "./narrowest-rule.ts";

export type Explanation = {
  decision: PermissionDecision;
  /** Each simple command of a command line, judged by itself. */
  parts: { text: string; decision: PermissionDecision }[];
  /** Rules that would allow the call, and that "always" would write; empty where no rule can or none is needed. */
  rules: string[];
};

const MOST_PARTS = 50;

/** A call decided with the rules of now, and why. */
export async function explain(request: PermissionRequest, context: DecisionContext): Promise<Explanation> {
  const decision = await decide(request, context);
  const place = { root: context.ground.root, home: context.ground.home };
  const rules = decision.decision === "ask" ? narrowestRules(request, decision, place) : [];
  const texts = request.tool === "Bash" ? await partTexts(request.access.subject, context) : [];
  const parts: Explanation["parts"] = [];
  if (texts.length > 1)
    for (const text of texts.slice(0, MOST_PARTS)) {
      const own = await decide({ ...request, access: { ...request.access, subject: text } }, context);
      parts.push({ text, decision: own });
    }
  return { decision, parts, rules };
}

/** As they stand in the line. What a part does may hang on the others: the decision on the whole is the one that counts. */
async function partTexts(command: string, { ground }: DecisionContext): Promise<string[]> {
  const [{ analyze }, { partSources }] = await Promise.all([import("./shell.ts"), import("./part-text.ts")]);
  return partSources(analyze(command, { cwd: ground.cwd, home: ground.home }));
}
