import { UserError } from "../protocol/errors.ts";
import type { HookAgent, HookEvent, HookEventName, HookOutcome } from "../protocol/hook.ts";
import { isRecord } from "../protocol/record.ts";
import { errorResult, textResult } from "../protocol/tool.ts";
import { maskSecrets } from "../safety/secrets.ts";
import { EVENTS, eventNamed } from "../tools/hooks/events.ts";
import { applies, runningHooks } from "../tools/hooks/fire.ts";
import type { factsOf } from "../tools/hooks/payload.ts";
import type { Hook } from "../tools/hooks/schema.ts";
import { type ShownHook, shown } from "./hook-report.ts";
import { hooksInForce } from "./hooks-in-force.ts";
import type { Surroundings } from "./surroundings.ts";

export type HookTest = {
  event: HookEventName;
  meant: ShownHook[] /** Meant too, and not accepted yet. */;
  off: ShownHook[];
  outcome?: HookOutcome;
  notes: string[];
  problems: string[];
};

/** One event with a sample of what it carries: which hooks are meant by it and, unless `dryRun`, what they say. Undefined for a name that is none. */
export async function testHooks(
  surroundings: Surroundings,
  { event: name, fields, dryRun }: { event: string; fields: Record<string, unknown>; dryRun: boolean },
): Promise<HookTest | undefined> {
  const wanted = eventNamed(name);
  if (wanted === undefined) return undefined;
  const sample = sampleEvent(wanted);
  for (const [field, value] of Object.entries(sample))
    if (field in fields && field !== "input" && typeof fields[field] !== typeof value)
      throw new UserError(`"${field}" of a ${wanted} is a ${typeof value}, not ${JSON.stringify(fields[field])}.`);
  const { event: _, ...given } = fields;
  const event = { ...sample, ...given } satisfies HookEvent;
  const { hooks, untrusted, problems } = await hooksInForce(surroundings);
  const { home, projectRoot, root, env, cwd } = surroundings;
  const ground = { home, projectRoot, root };
  const agent: HookAgent = { agent: "main", agentType: "main", session: "hooks-test", cwd: () => cwd };
  const wouldRun = (hook: Hook) => hook.event === wanted && isMeant(hook, event, agent, ground);
  const meant = hooks.filter(wouldRun).map((hook) => shown(hook, "on"));
  const off = untrusted.filter(wouldRun).map((hook) => shown(hook, "off"));
  const notes: string[] = [];
  if (dryRun) return { event: wanted, meant, off, notes, problems };
  await using running = runningHooks(hooks, { ground, env, note: (text) => notes.push(text), maskSecrets, runAgent: () => undefined });
  const outcome = await running.of(agent)(event, new AbortController().signal);
  return { event: wanted, meant, off, outcome, notes, problems };
}

function isMeant(hook: Hook, event: HookEvent, agent: HookAgent, ground: Parameters<typeof factsOf>[2]): boolean {
  return applies(hook, event, agent, { ground, note: () => undefined });
}

/** What comes of an outcome, in words. */
export function outcomeLines(event: HookEventName, outcome: HookOutcome): string[] {
  const { block, halt, decision, reason, updatedInput, context } = outcome;
  return [
    ...(block === undefined ? [] : [`Refused: ${EVENTS[event].blocking ?? "no effect"}. Reason: ${block}`]),
    ...(halt === undefined ? [] : [`Ends the run: ${halt}`]),
    ...(decision === undefined ? [] : [`Decision: ${decision}${reason === undefined ? "" : `, ${reason}`}`]),
    ...(isRecord(updatedInput) ? [`New input: ${JSON.stringify(updatedInput)}`] : []),
    ...(context === undefined ? [] : [`For the model: ${context}`]),
  ];
}

/** What the event may look like. */
function sampleEvent(event: HookEventName): HookEvent {
  const call = { tool: "WriteFile", input: { path: "sample.txt", content: "sample\n" }, callId: "sample" };
  const task = { id: "1", subject: "a sample", description: "" };
  const merge = { teammate: "alice", branch: "worktree-team-sample+alice", commit: "0".repeat(40), worktree: "." };
  switch (event) {
    case "session_start":
      return { event, source: "new" };
    case "session_end":
      return { event, turns: 1 };
    case "user_prompt_submit":
    case "subagent_start":
      return { event, prompt: "a sample prompt" };
    case "pre_tool_use":
      return { event, ...call };
    case "post_tool_use":
      return { event, ...call, result: textResult("written") };
    case "post_tool_failure":
      return { event, ...call, result: errorResult("not written") };
    case "permission_request":
      return { event, tool: "Bash", subject: "npm test", reason: "the mode asks", isSticky: false };
    case "notification":
      return { event, kind: "permission", message: "Bash(npm test): the mode asks" };
    case "pre_compact":
      return { event, trigger: "manual" };
    case "post_compact":
      return { event, trigger: "manual", mode: "suffix", tokensBefore: 100_000, tokensAfter: 10_000 };
    case "stop":
    case "subagent_stop":
    case "teammate_idle":
      return { event, text: "Done.", isAgain: false };
    case "task_created":
    case "task_completed":
      return { event, task };
    case "teammate_spawned":
      return { event, teammate: merge.teammate, branch: merge.branch, worktree: merge.worktree };
    case "teammate_stopped":
      return { event, teammate: merge.teammate, reason: "the lead asked for it" };
    case "message_received":
      return { event, from: "lead", kind: "message", text: "a sample message" };
    case "worktree_created":
      return { event, worktree: merge.worktree, branch: merge.branch };
    case "pre_merge":
    case "post_merge":
      return { event, ...merge };
    case "team_converged":
      return { event, exitCode: 0, merged: [merge.teammate], unmerged: [] };
  }
}
