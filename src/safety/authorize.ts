import type {
  AskHuman,
  Authorize,
  BeforeAsk,
  FinalDecision,
  PermissionDecision,
  PermissionMode,
  PermissionRequest,
} from "../protocol/permission.ts";
import type { MayShow } from "../protocol/tool.ts";
import type { AllowList } from "./allow-list.ts";
import { auditLine, type Recorder } from "./audit.ts";
import { decide, isCommandTool, mayShowFiles } from "./decide.ts";
import { gitConfigReader } from "./git-config.ts";
import { type DecisionContext, join } from "./layer-votes.ts";
import { denyUnanswered, narrowestRules } from "./narrowest-rule.ts";
import { DISK, type TeamPlace } from "./path-sandbox.ts";
import { parseRuleBody, type Rule, type RuleSet } from "./rules.ts";
import type { ToolChange } from "./tool-approvals.ts";

type AuthorizeContext = {
  /** What the agent may work in; absolute. */
  root: string;
  /** Where relative paths start, now. */
  cwd: string | (() => string);
  home: string;
  dataFolder: string;
  extraRoots: readonly string[];
  /** Folders that may be read and never written. */
  readRoots?: readonly string[];
  mode: () => PermissionMode;
  /** For the audit log. */
  session?: string;
  rules: () => RuleSet | Promise<RuleSet>;
  isTrusted: boolean;
  planFile?: string;
  /** Of commands only those that provably look are allowed, whatever rules and mode say. */
  onlyLooks?: boolean;
  /** While it is true nothing is changed but the plan file, whatever rules, mode and persons say. */
  awaitsApproval?: (() => boolean) | undefined;
  /** Rules that the system itself gives this agent, like `Bash(git merge --no-ff x)`. */
  granted?: readonly string[];
  team?: TeamPlace;
  /** What contains commands; undefined where nothing does. Asked only when it makes a difference. */
  contains?: ((command: string) => Promise<boolean>) | undefined;
  /** Of skills in use. */
  allowLists?: (() => readonly AllowList[]) | undefined;
  /** Nobody answers: every ask is a denial at once. */
  isHeadless?: boolean;
};

export type AuthorizeParts = {
  context: AuthorizeContext;
  askHuman?: AskHuman;
  /** Asked first, whether somebody is there or not. */
  beforeAsk?: BeforeAsk | undefined;
  /** One line for every decision. */
  record?: Recorder;
  /** For tools of servers, which are allowed as they are: a change since then is put to the person in every mode. */
  foreignTools?: ForeignTools;
  /** Takes the rules (without their effect) that "always" allows, for the local settings. */
  writeAlways?: (rules: readonly string[]) => Promise<void>;
  now?: () => Date;
};

export type ForeignTools = {
  /** Undefined for RooCode's own. */
  changeOf(tool: string): Promise<ToolChange | undefined>;
  /** The call was allowed, so the tool is as it is now. */
  approve(tool: string): Promise<void>;
};

/** Why a command that only its mode asks for runs without a question. */
export const CONTAINED = "it runs inside the OS sandbox";

/** Part of the reason of a denial that a person might have answered otherwise. */
export const NOBODY = "nobody is here to answer";

/** Whether a search may show each file, by the same layers and without a line in the audit log. */
export function createMayShow(agent: string, context: AuthorizeContext): MayShow {
  const granted = grantedRules(context);
  const gitIsSafe = () => true;
  return async (tool, from, files) => mayShowFiles(agent, tool, from, files, await decisionContext(context, granted, gitIsSafe));
}

/** The five layers in order: what the first four leave open is put to the person. */
export function createAuthorize({
  context,
  askHuman,
  beforeAsk,
  record,
  foreignTools,
  writeAlways,
  now = () => new Date(),
}: AuthorizeParts): Authorize {
  const gitIsSafe = gitConfigReader();
  const granted = grantedRules(context);

  return async (request, signal) => {
    const inForce = await decisionContext(context, granted, gitIsSafe);
    const byLayers =
      (await notApproved(request, inForce)) ??
      (await notLooking(request, inForce)) ??
      (await besideSandbox(request, await decide(request, inForce), context));
    const change = await foreignTools?.changeOf(request.tool);
    const lists = context.allowLists?.() ?? [];
    const outside =
      lists.length === 0 ? undefined : await (await import("./allow-list.ts")).outsideAllowLists(request, lists, inForce.ground);
    const byAll = join([byLayers, ...(change ? [changedTool(change)] : []), ...(outside ? [outside] : [])]) ?? byLayers;
    const decided = besideHooks(request, byAll);
    const final = isFinal(decided) ? decided : await settle(request, decided, signal);
    if (final.decision === "allow") await foreignTools?.approve(request.tool);
    const { session, root, mode } = context;
    await record?.(auditLine(request, decided, final, { session, cwd: cwdOf(context), root, mode: mode() }, now()));
    return final;
  };

  /** A denial of a command that does more than look, for an agent that may only look. */
  async function notLooking(request: PermissionRequest, ground: DecisionContext): Promise<PermissionDecision | undefined> {
    if (!context.onlyLooks || !isCommandTool(request.tool)) return undefined;
    const bare = await decide(request, { ...ground, mode: "default", rules: { rules: [], warnings: [] } });
    if (bare.decision === "allow") return undefined;
    const reason = `this agent may only look, and the command does not provably do no more than that (${bare.reason})`;
    return { ...bare, decision: "deny", sticky: false, layer: "mode", reason };
  }

  /** A denial of what changes something, for an agent whose plan nobody has approved. */
  async function notApproved(request: PermissionRequest, ground: DecisionContext): Promise<PermissionDecision | undefined> {
    if (!context.awaitsApproval?.() || request.access.kind === "other") return undefined;
    const bare = await decide(request, { ...ground, mode: "plan", rules: { rules: [], warnings: [] } });
    if (bare.decision === "allow") return undefined;
    return { ...bare, decision: "deny", sticky: false, layer: "mode", reason: `your plan is not approved yet (${bare.reason})` };
  }

  async function settle(
    { hook: _, ...request }: PermissionRequest,
    asked: PermissionDecision,
    signal: AbortSignal,
  ): Promise<FinalDecision> {
    const hooked = await beforeAsk?.(request, asked, signal);
    if (hooked?.decision === "deny") return { ...asked, decision: "deny", sticky: false, layer: "hook", reason: hooked.reason };
    if (hooked?.decision === "allow" && isOfMode(asked)) return { ...asked, decision: "allow", layer: "hook", reason: hooked.reason };
    const place = { root: context.root, home: context.home };
    const answer = askHuman && !context.isHeadless && !signal.aborted ? await askHuman(request, asked, signal) : undefined;
    if (answer === undefined) return denyUnanswered(request, asked, place);
    if (answer === "no" || typeof answer === "object") {
      const words = typeof answer === "object" ? `: ${answer.refusal}` : "";
      return { ...asked, decision: "deny", sticky: false, layer: "human", reason: `User denied this operation${words}` };
    }
    const rules = answer === "always" ? narrowestRules(request, asked, place) : [];
    if (rules.length > 0) await writeAlways?.(rules);
    return {
      ...asked,
      decision: "allow",
      layer: "human",
      reason: answer === "always" ? "the person allowed it for good" : "the person allowed it once",
    };
  }
}

/** The mode alone asks: no layer that holds in every mode, no rule and nothing sticky. */
function isOfMode({ decision, sticky, layer }: PermissionDecision): boolean {
  return decision === "ask" && !sticky && layer === "mode";
}

/** What a hook denies or wants asked counts whatever the layers say; what it allows only where the mode alone would ask. */
function besideHooks({ hook }: PermissionRequest, decided: PermissionDecision): PermissionDecision {
  if (hook === undefined) return decided;
  if (hook.decision === "allow") {
    if (!isOfMode(decided)) return decided;
    return { ...decided, decision: "allow", layer: "hook", reason: hook.reason };
  }
  const vote = { decision: hook.decision, sticky: hook.decision === "ask", layer: "hook", reason: hook.reason } as const;
  return join([decided, vote]) ?? decided;
}

function changedTool({ reason, difference }: ToolChange): PermissionDecision {
  return { decision: "ask", sticky: true, layer: "rule", reason, detail: difference };
}

/** A command that only its mode would ask for runs where it can do no harm; one that wants out is always asked for. */
async function besideSandbox(
  { tool, access }: PermissionRequest,
  decided: PermissionDecision,
  { contains, mode }: AuthorizeContext,
): Promise<PermissionDecision> {
  if (contains === undefined || !isCommandTool(tool) || decided.decision === "deny") return decided;
  if (access.isUnsandboxed) {
    if (decided.decision === "ask" && decided.sticky) return decided;
    if (!(await contains(access.subject))) return decided;
    return { decision: "ask", sticky: true, layer: "mode", reason: "it is to run outside of the OS sandbox" };
  }
  const isPlainAsk = decided.decision === "ask" && !decided.sticky && decided.layer === "mode";
  if (!isPlainAsk || mode() === "plan" || !(await contains(access.subject))) return decided;
  return { decision: "allow", sticky: false, layer: "mode", reason: CONTAINED };
}

function grantedRules(context: AuthorizeContext): Rule[] {
  return (context.granted ?? []).flatMap((text) => {
    const rule = parseRuleBody("allow", text, "granted");
    return "warning" in rule ? [] : [rule];
  });
}

async function decisionContext(
  context: AuthorizeContext,
  granted: readonly Rule[],
  gitIsSafe: (folder: string) => boolean,
): Promise<DecisionContext> {
  const set = await context.rules();
  return {
    ground: {
      root: context.root,
      cwd: cwdOf(context),
      home: context.home,
      dataFolder: context.dataFolder,
      extraRoots: context.extraRoots,
      readRoots: context.readRoots,
      team: context.team,
      planFile: context.planFile,
      files: DISK,
    },
    mode: context.mode(),
    rules: { rules: [...set.rules, ...granted], warnings: set.warnings },
    isTrusted: context.isTrusted,
    planFile: context.planFile,
    gitIsSafe,
  };
}

function cwdOf(context: AuthorizeContext): string {
  return typeof context.cwd === "function" ? context.cwd() : context.cwd;
}

function isFinal(decision: PermissionDecision): decision is FinalDecision {
  return decision.decision !== "ask";
}
