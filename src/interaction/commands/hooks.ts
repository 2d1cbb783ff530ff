import { UserError } from "../../protocol/errors.ts";
import { isRecord } from "../../protocol/record.ts";
import { hookLine, hookReport } from "../../runtime/hook-report.ts";
import { outcomeLines, testHooks } from "../../runtime/hook-test.ts";
import { importClaude } from "../../runtime/import-claude.ts";
import type { Surroundings } from "../../runtime/surroundings.ts";
import { EVENT_NAMES } from "../../tools/hooks/events.ts";

type Output = (text: string) => void;

/** Exit code 1 when one is written wrongly. */
export async function listHooks(surroundings: Surroundings, { json }: { json: boolean }, write: Output): Promise<number> {
  const { hooks, problems } = await hookReport(surroundings);
  if (json) write(`${JSON.stringify({ hooks, problems })}\n`);
  else {
    for (const hook of hooks) write(`${hookLine(hook)}\n`);
    for (const problem of problems) write(`${problem}\n`);
    if (hooks.length + problems.length === 0) write(`No hooks. Put them under hooks in ${surroundings.data.config}.\n`);
  }
  return problems.length === 0 ? 0 : 1;
}

export type TestArguments = {
  event: string;
  tool?: string | undefined;
  input?: string | undefined;
  fields?: string | undefined;
  dryRun: boolean;
  json: boolean;
};

/** Fires one event with a sample of what it carries. Exit code 1 when a hook refuses it. */
export async function testHook(surroundings: Surroundings, args: TestArguments, write: Output): Promise<number> {
  const fields = {
    ...objectOf(args.fields, "--fields"),
    ...(args.tool === undefined ? {} : { tool: args.tool }),
    ...(args.input === undefined ? {} : { input: objectOf(args.input, "--input") }),
  };
  const tested = await testHooks(surroundings, { event: args.event, fields, dryRun: args.dryRun });
  if (!tested) throw new UserError(`There is no event "${args.event}". Events: ${EVENT_NAMES.join(", ")}.`);
  const { meant, off, outcome, notes, problems } = tested;
  if (args.json) write(`${JSON.stringify(tested)}\n`);
  else {
    const lines = [
      ...(meant.length === 0
        ? [`No hook is meant by this ${tested.event}.`]
        : [args.dryRun ? "Would run:" : "Ran:", ...meant.map((hook) => `  ${hookLine(hook)}`)]),
      ...(off.length === 0
        ? []
        : ["Meant too, and off until you accept what this folder brings (--trust):", ...off.map((hook) => `  ${hookLine(hook)}`)]),
      ...(outcome ? outcomeLines(tested.event, outcome) : []),
      ...notes,
      ...problems,
    ];
    if (outcome && meant.length > 0 && Object.keys(outcome).length === 0) lines.push("Nothing is in the way of it.");
    write(`${lines.join("\n")}\n`);
  }
  return outcome?.block !== undefined || outcome?.decision === "deny" ? 1 : 0;
}

/** Hooks and permission rules of Claude Code's settings into ours. */
export async function importCommand(
  surroundings: Surroundings,
  { dryRun, json }: { dryRun: boolean; json: boolean },
  write: Output,
): Promise<number> {
  const files = await importClaude(surroundings, { dryRun });
  if (json) write(`${JSON.stringify({ dryRun, files })}\n`);
  else if (files.length === 0)
    write("There are no settings of Claude Code here: no .claude/settings.json, no .claude/settings.local.json, none in your home.\n");
  else {
    for (const { from, to, hooks, rules, added, left } of files) {
      write(`${from}: ${hooks} hooks, ${rules} rules; ${added} ${dryRun ? "would be" : "were"} added to ${to}.\n`);
      for (const reason of left) write(`  not taken over: ${reason}\n`);
    }
    if (files.some(({ level, added }) => level === "project" && added > 0))
      write("The project's hooks and allow rules count once you accept them: start roocode here, or give --trust.\n");
  }
  return 0;
}

function objectOf(text: string | undefined, flag: string): Record<string, unknown> {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Said below, as for any other text that is no object.
  }
  throw new UserError(`${flag} takes a JSON object, for example '{"path": "src/a.ts"}'.`);
}
