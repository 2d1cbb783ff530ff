import type { FinalDecision, PermissionDecision, PermissionRequest } from "../protocol/permission.ts";
import { escapeStars } from "./patterns.ts";
import { WRITE_TOOLS } from "./rules.ts";
import { webRule } from "./web-rules.ts";

/** What "always" writes and what a denial names: the exact commands, the one file, the host, or the tool. Empty where only a person can allow it. */
export function narrowestRules(
  { tool, access }: PermissionRequest,
  asked: PermissionDecision,
  place: { root: string; home: string },
): string[] {
  // It would ask again.
  if (asked.layer === "hook") return [];
  if (tool === "Bash") return commandRules(access.subject.trim(), asked);
  if (tool === "WebFetch") return [webRule(access.subject) ?? []].flat();
  // A sticky file or a changed tool of a server asks each time: no rule stands for a person there.
  if (asked.sticky) return [];
  if (access.kind !== "read" && access.kind !== "write") return [tool];
  const name = WRITE_TOOLS.includes(tool) ? "Edit" : tool;
  return (access.paths ?? []).map((path) => `${name}(${pathPattern(path, place)})`);
}

/** A word that means itself, without quotes and without anything that the shell expands. */
const PLAIN_PART = /^[a-z][\w.-]*( [\w@%+:,./=-]+)+$/;

/** One rule for each part that no rule covers yet, where each is a plain command with arguments; else the line as it stands. */
function commandRules(line: string, { layer, parts = [] }: PermissionDecision): string[] {
  const isPlain =
    layer === "mode" &&
    parts.length > 1 &&
    !/["'\\>]/.test(line) &&
    parts.every((part) => PLAIN_PART.test(part) && !/^(read|write) /.test(part));
  return (isPlain ? [...new Set(parts)] : [escapeStars(line)]).map((text) => `Bash(${text})`);
}

/** An ask without a person is a denial at once; it names the rule that would allow the call. */
export function denyUnanswered(
  request: PermissionRequest,
  asked: PermissionDecision,
  place: { root: string; home: string },
): FinalDecision {
  const rules = narrowestRules(request, asked, place).map((rule) => `"${rule}"`);
  const wayOut = rules.length === 0 ? "No rule allows it." : `The rule ${rules.join(", ")} in permissions.allow would allow it.`;
  return { ...asked, decision: "deny", sticky: false, reason: `${asked.reason}; nobody is here to answer. ${wayOut}` };
}

/** Anchored, so that no other file of the same name is meant. */
function pathPattern(path: string, { root, home }: { root: string; home: string }): string {
  if (path.startsWith("~/")) return path;
  if (path.startsWith(`${root}/`)) return path.slice(root.length);
  if (path.startsWith(`${home}/`)) return `~/${path.slice(home.length + 1)}`;
  return path.startsWith("/") ? `/${path}` : `/${path.replace(/^\.\//, "")}`;
}
