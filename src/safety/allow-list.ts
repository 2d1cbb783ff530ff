import type { PermissionDecision, PermissionRequest } from "../protocol/permission.ts";
import type { Part } from "./command-line.ts";
import { pathIsAllowed, rulePath } from "./match-paths.ts";
import type { Ground } from "./path-sandbox.ts";
import { matchesStar } from "./patterns.ts";
import { namesTool, parseRuleBody, READ_TOOLS, type Rule, WRITE_TOOLS } from "./rules.ts";

/** The only calls that are let through while it counts; it grants nothing by itself. `name` says whose list it is. */
export type AllowList = { name: string; tools: readonly string[] };

/** A skill takes away, and another skill can only take away more. */
const ALWAYS = ["LoadSkill"];

/** The denial of a call that one of the lists does not hold; undefined where all hold it. Each part of a command line has to be held. */
export async function outsideAllowLists(
  request: PermissionRequest,
  lists: readonly AllowList[],
  ground: Ground,
): Promise<PermissionDecision | undefined> {
  for (const { name, tools } of lists) {
    const rules = tools.flatMap((text) => {
      const rule = parseRuleBody("allow", text, "granted");
      return "warning" in rule ? [] : [rule];
    });
    if (ALWAYS.includes(request.tool) || (await isHeld(request, rules, ground))) continue;
    const reason = `${name} allows only ${tools.join(", ") || "no tools"} until this turn ends`;
    return { decision: "deny", sticky: false, layer: "rule", rule: `allowedTools of ${name}`, reason };
  }
  return undefined;
}

async function isHeld(request: PermissionRequest, rules: readonly Rule[], ground: Ground): Promise<boolean> {
  const fitting = rules.filter((rule) => namesTool(rule, request.tool));
  if (fitting.some(({ spec }) => spec === undefined)) return true;
  if (fitting.length === 0) return false;
  if (request.tool === "Bash") return isHeldCommand(request.access.subject, rules, ground);
  const isFile = READ_TOOLS.includes(request.tool) || WRITE_TOOLS.includes(request.tool);
  if (!isFile) return fitting.some(({ spec = "" }) => matchesStar(spec, request.access.subject));
  const paths = (request.access.paths ?? []).map((path) => rulePath(path, ground));
  return paths.length > 0 && paths.every((path) => fitting.some(({ spec = "" }) => pathIsAllowed(spec, path, ground)));
}

/** A file that a command's output goes to is written, and the list has to hold that as well. */
async function isHeldCommand(text: string, rules: readonly Rule[], ground: Ground): Promise<boolean> {
  const [{ analyze }, { allowsFile, allowsPart }, { needsCover }, { isStream }] = await Promise.all([
    import("./shell.ts"),
    import("./match-commands.ts"),
    import("./decide-command.ts"),
    import("./touches.ts"),
  ]);
  const isHeldPart = (part: Part): boolean =>
    (!needsCover(part) || rules.some((rule) => allowsPart(rule, part, ground))) &&
    part.redirects.every(
      ({ isCopy, target, use }) =>
        isCopy ||
        isStream(target) ||
        rules.some((rule) => allowsFile(rule, use === "write" ? "WriteFile" : "ReadFile", target, part, ground)),
    );
  try {
    const line = analyze(text, { cwd: ground.cwd, home: ground.home });
    return line.problems.length === 0 && !line.isOverLimit && line.parts.every(isHeldPart);
  } catch {
    // What can't be read is not on the list.
    return false;
  }
}
