import { resolve } from "node:path";
import { type DefinitionReport, loadDefinitions } from "../../engine/subagents/definitions.ts";
import { exists } from "../../platform/files.ts";
import { UserError } from "../../protocol/errors.ts";
import { agentFolders } from "../../runtime/agent-places.ts";
import { projectRules } from "../../runtime/permissions.ts";
import { type GlobalFlags, readSurroundings } from "../../runtime/surroundings.ts";
import { jsonLine } from "../json-line.ts";
import { writeOut } from "../lost-output.ts";

export type AgentsArguments = GlobalFlags & { json: boolean; dir?: string | undefined };

/** `roocode agents list`: 0 also where a file is refused; the list says it. */
export async function agentsCommand(args: AgentsArguments): Promise<number> {
  const reports = await (args.dir === undefined ? hereReports(args) : folderReports(resolve(args.dir)));
  writeOut(args.json ? jsonLine(reports) : agentsText(reports));
  return 0;
}

async function hereReports(flags: GlobalFlags): Promise<readonly DefinitionReport[]> {
  const surroundings = await readSurroundings(process.cwd(), process.env, flags);
  const { isTrusted, items } = await projectRules(surroundings);
  return (await loadDefinitions(agentFolders(surroundings, (item) => isTrusted && items.includes(item)))).reports;
}

async function folderReports(path: string): Promise<readonly DefinitionReport[]> {
  if (!(await exists(path))) throw new UserError(`There is no folder ${path} (--dir).`);
  return (await loadDefinitions([{ path, level: "user" }])).reports;
}

function agentsText(reports: readonly DefinitionReport[]): string {
  if (reports.length === 0) return "There are no definitions here.\n";
  return reports.map(({ name, verdict, reason, file }) => `${verdict.padEnd(7)} ${name.padEnd(24)} ${reason || file}\n`).join("");
}
