import type { PermissionDecision, PermissionRequest } from "../protocol/permission.ts";
import { type DecisionContext, join, type LayerVote } from "./layer-votes.ts";
import { pathIsAllowed, pathIsCovered, rulePath } from "./match-paths.ts";
import { allowedByMode } from "./modes.ts";
import { judgePath, type PathVerdict, patternLeaves, rememberLooks, resolvePhysically, toAbsolute } from "./path-sandbox.ts";
import { matchesStar } from "./patterns.ts";
import { judgeRules, namesTool, READ_TOOLS, type Rule, ruleDecision, WRITE_TOOLS } from "./rules.ts";

/**
 * Which files a search may show: those that ReadFile reads without a question and no rule keeps from the search. An ask that the
 * search itself met is answered already; an ask or a deny of a single file leaves it out.
 */
export function mayShowFiles(agent: string, tool: string, from: string, files: readonly string[], given: DecisionContext): boolean[] {
  const context = { ...given, ground: { ...given.ground, files: rememberLooks(given.ground.files) } };
  // Of a search the subject is its pattern, which was judged with the search itself.
  const judge = (name: string, path: string) =>
    decideTool({ agent, tool: name, access: { kind: "read", subject: "*", paths: [path] } }, context);
  const start = judge(tool, from);
  const isAnswered = (vote: LayerVote) => vote.decision === "allow" || (vote.layer !== "path" && !vote.sticky && vote.rule === start.rule);
  return files.map((file) => {
    const asSearch = judge(tool, file);
    const asRead = judge("ReadFile", file);
    return asSearch.decision !== "deny" && asRead.decision !== "deny" && isAnswered(asRead);
  });
}

/** Layers 1 to 4 on one call. Pure but for the look at the disk that `ground` and `gitIsSafe` bring. */
export async function decide(request: PermissionRequest, given: DecisionContext): Promise<PermissionDecision> {
  const context = { ...given, ground: { ...given.ground, files: rememberLooks(given.ground.files) } };
  if (request.tool === "Bash") return decideBash(request, context);
  if (isCommandTool(request.tool)) return decideSkillTool(request, context);
  if (request.tool === "WebFetch") return (await import("./decide-web.ts")).decideWeb(request, context);
  return decideTool(request, context);
}

/** Those whose subject is a command line: Bash, and the tools that skills bring. */
export function isCommandTool(tool: string): boolean {
  return tool === "Bash" || tool.startsWith("skill__");
}

/** What its command line may do counts as for Bash; a rule may name the tool itself, and then stands for what only the mode would ask. */
async function decideSkillTool(request: PermissionRequest, context: DecisionContext): Promise<LayerVote> {
  const command = await decideBash(request, context);
  const byName = decideTool(request, context);
  if (byName.layer !== "rule") return command;
  const isOpen = command.decision === "ask" && !command.sticky && command.layer === "mode";
  return isOpen ? byName : (join([command, byName]) ?? command);
}

async function decideBash(request: PermissionRequest, context: DecisionContext): Promise<LayerVote> {
  // The parser and the tables are loaded with the first command, not with the program.
  const [{ analyze }, { decideCommand, decideUnread }] = await Promise.all([import("./shell.ts"), import("./decide-command.ts")]);
  const text = request.access.subject;
  try {
    return decideCommand(analyze(text, { cwd: context.ground.cwd, home: context.ground.home }), context);
  } catch {
    // Whatever the analysis trips over must not become an allow, nor end the agent.
    return decideUnread(text, context);
  }
}

function decideTool(request: PermissionRequest, context: DecisionContext): LayerVote {
  const verdicts = judgePaths(request, context);
  const vote = joinLayers(request, layerPath(request, verdicts), context);
  const resolved = verdicts.flatMap((verdict) => verdict.resolved ?? []);
  return vote.decision !== "deny" && resolved.length > 0 ? { ...vote, resolved } : vote;
}

function joinLayers(request: PermissionRequest, place: LayerVote | undefined, context: DecisionContext): LayerVote {
  const votes: LayerVote[] = [];
  if (place) votes.push(place);
  const rule = judgeRules(context.rules, context.isTrusted, (each) => matchesTool(each, request, context));
  if (rule) votes.push(ruleDecision(rule));
  if (rule === undefined && (place === undefined || place.decision === "allow")) return layerMode(request, context);
  return join(votes) ?? layerMode(request, context);
}

function judgePaths({ access, tool }: PermissionRequest, { ground }: DecisionContext): PathVerdict[] {
  const { kind } = access;
  if (kind !== "read" && kind !== "write") return [];
  const isSearch = tool === "Glob" || tool === "Grep";
  return (access.paths ?? []).map((path) => judgePath(path, kind, ground, !isSearch));
}

/** Layer 2 for the file tools. */
function layerPath({ access, tool }: PermissionRequest, verdicts: readonly PathVerdict[]): LayerVote | undefined {
  if (tool === "Glob" && patternLeaves(access.subject)) return denyPath(`the pattern "${access.subject}" leaves the workspace`);
  const refused = verdicts.find((verdict) => verdict.place !== "inside");
  if (refused) return denyPath(refused.reason);
  const sticky = verdicts.find((verdict) => verdict.isSticky);
  return sticky ? { decision: "ask", sticky: true, layer: "path", reason: sticky.reason } : undefined;
}

function denyPath(reason: string): LayerVote {
  return { decision: "deny", sticky: false, layer: "path", reason };
}

function matchesTool(rule: Rule, request: PermissionRequest, { ground }: DecisionContext): boolean {
  if (!namesTool(rule, request.tool)) return false;
  const { spec } = rule;
  if (spec === undefined) return true;
  const isFile = READ_TOOLS.includes(request.tool) || WRITE_TOOLS.includes(request.tool);
  if (!isFile) return matchesStar(spec, request.access.subject);
  const matches = rule.effect === "allow" ? pathIsAllowed : pathIsCovered;
  const paths = (request.access.paths ?? []).map((path) => rulePath(path, ground));
  return rule.effect === "allow"
    ? paths.length > 0 && paths.every((path) => matches(spec, path, ground))
    : paths.some((path) => matches(spec, path, ground));
}

function layerMode(request: PermissionRequest, context: DecisionContext): LayerVote {
  const { kind } = request.access;
  if (allowedByMode(context.mode, kind, isPlanFile(request, context)))
    return { decision: "allow", sticky: false, layer: "mode", reason: `${kind} is allowed in mode ${context.mode}` };
  return { decision: "ask", sticky: false, layer: "mode", reason: `${kind} asks in mode ${context.mode}` };
}

function isPlanFile(request: PermissionRequest, { planFile, ground }: DecisionContext): boolean {
  if (planFile === undefined) return false;
  const wanted = resolvePhysically(planFile, ground.files);
  const paths = request.access.paths ?? [];
  return paths.length > 0 && paths.every((path) => resolvePhysically(toAbsolute(path, ground), ground.files) === wanted);
}
