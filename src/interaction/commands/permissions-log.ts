import { join } from "node:path";
import { UserError } from "../../protocol/errors.ts";
import { explainDecision } from "../../runtime/explain-decision.ts";
import { teamRecord } from "../../runtime/find-team.ts";
import { type GlobalFlags, readSurroundings, type Surroundings } from "../../runtime/surroundings.ts";
import { type LoggedDecision, readAudit, verifyAudit } from "../../safety/audit-log.ts";
import { decisionLine } from "../decision-text.ts";
import { writeOut } from "../lost-output.ts";

type Place = GlobalFlags & { team?: string | undefined };
export type LogArgs = Place & {
  session?: string | undefined;
  tool?: string | undefined;
  agent?: string | undefined;
  denied?: boolean | undefined;
  n?: number | undefined;
  json?: boolean | undefined;
};

/** `roocode permissions log`: past decisions, the oldest first. */
export async function logCommand(args: LogArgs): Promise<number> {
  const { path } = await auditOf(args);
  const found = await readAudit(path, { session: args.session, tool: args.tool, agent: args.agent, deniedOnly: args.denied });
  const shown = found.slice(-(args.n ?? 20));
  if (shown.length === 0 && !args.json) writeOut(`No decisions${found.length === 0 ? ` of this kind in ${path}` : ""}.\n`);
  for (const entry of shown) writeOut(`${args.json ? JSON.stringify(entry) : decisionLine(entry)}\n`);
  return 0;
}

/** `roocode permissions explain <id|last>`. */
export async function explainCommand(args: Place & { id: string }): Promise<number> {
  const { path, surroundings } = await auditOf(args);
  const entry = chosen(await readAudit(path), args.id);
  if (!entry) throw new UserError(`There is no decision "${args.id}" in ${path}. See: roocode permissions log`);
  writeOut(`${await explainDecision(entry, surroundings)}\n`);
  return 0;
}

/** What comes after them helps nobody to find the first. */
const MOST_PROBLEMS = 20;

/** `roocode permissions verify`: 0 when the chains of the log are whole, else 1. */
export async function verifyCommand(args: Place): Promise<number> {
  const { path } = await auditOf(args);
  const { lines, chains, problems } = await verifyAudit(path);
  for (const problem of problems.slice(0, MOST_PROBLEMS)) writeOut(`${problem}\n`);
  if (problems.length > MOST_PROBLEMS) writeOut(`… and ${problems.length - MOST_PROBLEMS} more\n`);
  const verdict = problems.length === 0 ? "whole" : `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`;
  writeOut(`${path}: ${lines} decisions in ${chains} ${chains === 1 ? "chain" : "chains"}, ${verdict}.\n`);
  return problems.length === 0 ? 0 : 1;
}

function chosen(entries: readonly LoggedDecision[], id: string): LoggedDecision | undefined {
  return id === "last" ? entries.at(-1) : entries.findLast((entry) => entry.id === id);
}

async function auditOf(args: Place): Promise<{ path: string; surroundings: Surroundings }> {
  const surroundings = await readSurroundings(process.cwd(), process.env, args);
  const { data } = surroundings;
  return { surroundings, path: args.team === undefined ? data.audit : join(await teamRecord(data, args.team), "audit.jsonl") };
}
