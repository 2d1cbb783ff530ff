import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { exists } from "../../platform/files.ts";
import { UserError } from "../../protocol/errors.ts";
import { projectRules } from "../../runtime/permissions.ts";
import { untrustedSkill } from "../../runtime/project-items.ts";
import { commandPlaces, skillPlaces } from "../../runtime/skill-places.ts";
import type { GlobalFlags } from "../../runtime/surroundings.ts";
import { findCommands } from "../../tools/skills/command-files.ts";
import { findSkills, type SkillFinding, shownPath } from "../../tools/skills/find-skills.ts";
import type { SkillPlace } from "../../tools/skills/skill-files.ts";
import { jsonLine } from "../json-line.ts";
import { outliveOutput } from "../lost-output.ts";
import { surroundingsHere } from "../surroundings-here.ts";

type Output = (text: string) => void;
export type SkillsArguments = GlobalFlags & { json: boolean; dir?: string | undefined };

/** 0 also where a file is refused; the list says it. */
export async function listSkills(args: SkillsArguments, write: Output): Promise<number> {
  return show(await skillFindings(args), args, write);
}

/** 1 when a file can't be used. */
export async function checkSkills(args: SkillsArguments, write: Output): Promise<number> {
  const findings = await skillFindings(args);
  const odd = findings.filter(({ verdict }) => verdict !== "load");
  if (args.json || odd.length > 0) show(odd, args, write);
  else write(`${findings.length === 1 ? "1 skill" : `${findings.length} skills`}, nothing wrong with them.\n`);
  return odd.some(({ verdict }) => verdict === "refuse") ? 1 : 0;
}

export async function listCommands(args: SkillsArguments, write: Output): Promise<number> {
  const places = args.dir === undefined ? commandPlaces(await surroundingsHere(args)) : await commandFolders(await onlyThere(args.dir));
  return show((await findCommands(places)).findings, args, write);
}

async function skillFindings(args: SkillsArguments): Promise<SkillFinding[]> {
  if (args.dir !== undefined) return (await findSkills(await onlyThere(args.dir), async () => undefined)).findings;
  const surroundings = await surroundingsHere(args);
  const { isTrusted, items } = await projectRules(surroundings);
  const isAccepted = (item: string) => isTrusted && items.includes(item);
  const refuse = untrustedSkill.bind(undefined, surroundings.projectRoot, isAccepted);
  return (await findSkills(skillPlaces(surroundings), refuse)).findings;
}

/** A folder of anybody's, judged by what all products agree on. */
async function onlyThere(dir: string): Promise<SkillPlace[]> {
  const folder = resolve(dir);
  if (!(await exists(folder))) throw new UserError(`There is no folder ${folder} (--dir).`);
  return [{ folder, level: "user", isOwn: false }];
}

/** Of a folder with folders of commands in it, such as a collection of plugins, these. */
async function commandFolders(places: SkillPlace[]): Promise<SkillPlace[]> {
  const [place] = places;
  if (!place || basename(place.folder) === "commands") return places;
  const names = await readdir(place.folder, { recursive: true, withFileTypes: true });
  const inside = names.filter((entry) => entry.isDirectory() && entry.name === "commands" && !isSkipped(entry.parentPath));
  if (inside.length === 0) return places;
  return inside.map((entry) => ({ ...place, folder: join(entry.parentPath, entry.name) })).sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

function isSkipped(path: string): boolean {
  return /[/\\](?:\.git|node_modules)(?:[/\\]|$)/.test(path);
}

function show(findings: readonly SkillFinding[], { json }: SkillsArguments, write: Output): number {
  outliveOutput();
  if (json) write(jsonLine(findings));
  else if (findings.length === 0) write("There are no files here.\n");
  else write(findings.map((finding) => `${lineOf(finding)}\n`).join(""));
  return 0;
}

function lineOf({ verdict, name, file, reason }: SkillFinding): string {
  const path = shownPath(file, process.cwd());
  return `${verdict.padEnd(7)} ${name.padEnd(24)} ${path}${reason === "" ? "" : `: ${reason}`}`;
}
