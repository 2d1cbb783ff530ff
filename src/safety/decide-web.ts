import { isPrivateAddress, isPrivateName } from "../platform/private-address.ts";
import { readWebAddress } from "../platform/web-address.ts";
import type { PermissionRequest } from "../protocol/permission.ts";
import type { DecisionContext, LayerVote } from "./layer-votes.ts";
import { allowedByMode } from "./modes.ts";
import { judgeRules, namesTool, ruleDecision } from "./rules.ts";
import { matchesWeb, ruleNamesHost, webRule } from "./web-rules.ts";

/** Layers 2 to 4 for a web address. Where its name leads is only known at the fetch, which looks again. */
export function decideWeb({ access }: PermissionRequest, { rules, isTrusted, mode }: DecisionContext): LayerVote {
  const address = readWebAddress(access.subject);
  if (typeof address === "string") return { decision: "deny", sticky: false, layer: "path", reason: address };
  const found = judgeRules(rules, isTrusted, (rule) => namesTool(rule, "WebFetch") && matchesWeb(rule, address, access.subject));
  const isNamed = ruleNamesHost(rules.rules, access.subject, isTrusted);
  if (found?.decision !== "deny" && !isNamed && (isPrivateAddress(address.host) || isPrivateName(address.host))) {
    const reason = `"${address.host}" is this machine or a private network; the rule ${webRule(access.subject)} in permissions.allow opens it`;
    return { decision: "deny", sticky: false, layer: "path", reason };
  }
  if (found) return ruleDecision(found);
  return allowedByMode(mode, "command", false)
    ? { decision: "allow", sticky: false, layer: "mode", reason: `fetching is allowed in mode ${mode}` }
    : { decision: "ask", sticky: false, layer: "mode", reason: `fetching from ${address.host} asks in mode ${mode}` };
}
