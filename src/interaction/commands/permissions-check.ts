import { join, resolve } from "node:path";
import * as z from "zod";
import { PERMISSION_MODES, type PermissionDecision, type PermissionMode } from "../../protocol/permission.ts";
import { decide } from "../../safety/decide.ts";
import { gitConfigReader } from "../../safety/git-config.ts";
import type { DecisionContext } from "../../safety/layer-votes.ts";
import { denyUnanswered } from "../../safety/narrowest-rule.ts";
import { DISK } from "../../safety/path-sandbox.ts";
import { type RuleSet, ruleSet } from "../../safety/rules.ts";
import { accessOf } from "./access-of.ts";

/** Where the command runs: what a call that leaves a field out is judged by. */
export type CheckSurroundings = {
  cwd: string;
  root: string;
  home: string;
  dataFolder: string;
  extraRoots: readonly string[];
  readRoots: readonly string[];
  mode: PermissionMode;
  isTrusted: boolean;
  /** From the settings files; read only for a call that brings no rule list. */
  rules: () => Promise<RuleSet>;
};
export type CheckIo = { out(line: string): void; warn(line: string): void };

const Rules = z.array(z.string()).optional();
const Call = z.strictObject({
  id: z.union([z.string(), z.number()]).optional(),
  tool: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
  cwd: z.string().optional(),
  root: z.string().optional(),
  home: z.string().optional(),
  extra: z.array(z.string()).optional(),
  mode: z.enum(PERMISSION_MODES).optional(),
  headless: z.boolean().optional(),
  trusted: z.boolean().optional(),
  user: Rules,
  project: Rules,
  local: Rules,
});
type Call = z.infer<typeof Call>;

/**
 * Decides each call and runs none: one JSON line for each line that came, in their order. Resolves with the exit code: 0, or 2 when a
 * line could not be understood; such a line is answered by `{id, error}`.
 */
export async function permissionsCheck(calls: AsyncIterable<string>, io: CheckIo, surroundings: CheckSurroundings): Promise<number> {
  const gitIsSafe = gitConfigReader();
  let exitCode = 0;
  let number = 0;
  for await (const line of calls) {
    number++;
    if (line.trim() === "") continue;
    const call = readCall(line);
    const answer = typeof call === "string" ? call : await checkCall(call, io, surroundings, gitIsSafe);
    const id = typeof call === "string" ? number : (call.id ?? number);
    if (typeof answer === "string") exitCode = 2;
    io.out(JSON.stringify(typeof answer === "string" ? { id, error: `Line ${number}: ${answer}.` } : { id, ...answer }));
  }
  return exitCode;
}

/** `--tool` and `--input` as the one line that they stand for. */
export async function* oneCall(tool: string, input: string): AsyncGenerator<string> {
  yield `{"tool":${JSON.stringify(tool)},"input":${input.replace(/\s*\n\s*/g, " ")}}`;
}

function readCall(line: string): Call | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return `it is not JSON (${error instanceof Error ? error.message : "unreadable"})`;
  }
  const parsed = Call.safeParse(value);
  if (parsed.success) return parsed.data;
  return parsed.error.issues
    .map((issue) => (issue.path.length > 0 ? `"${issue.path.join(".")}": ${issue.message}` : issue.message))
    .join("; ");
}

async function checkCall(
  call: Call,
  io: CheckIo,
  surroundings: CheckSurroundings,
  gitIsSafe: (folder: string) => boolean,
): Promise<PermissionDecision | string> {
  const access = accessOf(call.tool, call.input);
  if (typeof access === "string") return access;
  const request = { agent: "check", tool: call.tool, access };
  const context = await contextOf(call, surroundings, gitIsSafe);
  // Those of the settings were said at the start.
  if (bringsRules(call)) for (const warning of context.rules.warnings) io.warn(warning);
  const decision = await decide(request, context);
  if (!call.headless || decision.decision !== "ask") return ordered(decision);
  return ordered(denyUnanswered(request, decision, { root: context.ground.root, home: context.ground.home }));
}

function bringsRules(call: Call): boolean {
  return call.user !== undefined || call.project !== undefined || call.local !== undefined;
}

async function contextOf(call: Call, surroundings: CheckSurroundings, gitIsSafe: (folder: string) => boolean): Promise<DecisionContext> {
  const root = call.root === undefined ? surroundings.root : resolve(surroundings.cwd, call.root);
  const home = call.home === undefined ? surroundings.home : resolve(surroundings.cwd, call.home);
  const cwd = call.cwd === undefined ? (call.root === undefined ? surroundings.cwd : root) : resolve(root, call.cwd);
  const given = {
    ...(call.user ? { user: call.user } : {}),
    ...(call.project ? { project: call.project } : {}),
    ...(call.local ? { local: call.local } : {}),
  };
  return {
    ground: {
      root,
      cwd,
      home,
      dataFolder: call.home === undefined ? surroundings.dataFolder : join(home, ".roocode"),
      extraRoots: call.extra?.map((each) => resolve(root, each)) ?? surroundings.extraRoots,
      // Those of another place are not known.
      readRoots: call.root === undefined && call.home === undefined ? surroundings.readRoots : [],
      files: DISK,
    },
    mode: call.mode ?? surroundings.mode,
    rules: bringsRules(call) ? ruleSet(given) : await surroundings.rules(),
    isTrusted: call.trusted ?? (bringsRules(call) || surroundings.isTrusted),
    gitIsSafe,
  };
}

/** The fields in the order of the documentation. */
function ordered({ decision, sticky, layer, rule, reason, parts }: PermissionDecision): PermissionDecision {
  return { decision, sticky, layer, ...(rule === undefined ? {} : { rule }), reason, ...(parts === undefined ? {} : { parts }) };
}
