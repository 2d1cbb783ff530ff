import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";

/** Folders that agents write to: a program in them is their work. */
const WORKSPACE = new Set<string>();

/**
 * From now on the programs that RooCode itself starts (git, bwrap, bash, tmux, …) are not taken from these folders. PATH often names
 * one: `npm exec` puts node_modules/.bin first, where a command could leave a "git" that would then run outside of its sandbox.
 */
export function keepProgramsFrom(folders: readonly string[]): void {
  for (const folder of folders) for (const place of [folder, realOf(folder)]) if (place !== "/") WORKSPACE.add(place);
}

/** The same environment with a PATH for programs of ours: absolute folders, and none that agents write to. */
export function ownEnvironment(base: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return base.PATH === undefined ? base : { ...base, PATH: ownFolders(base.PATH).join(delimiter) };
}

/** Where such a program is. Its bare name when it is on no PATH at all, for the error of who starts it. */
export function ownProgram(name: string, env: NodeJS.ProcessEnv): string {
  if (isAbsolute(name)) return name;
  const found = ownFolders(env.PATH ?? "").map((folder) => join(folder, name));
  const first = found.find(isProgram);
  if (first !== undefined) return first;
  const isElsewhere = (env.PATH ?? "").split(delimiter).some((folder) => isProgram(join(folder, name)));
  if (isElsewhere)
    throw new Error(`The only ${name} on PATH is in a folder of the workspace, and such a program is not started. Install one.`);
  return name;
}

function ownFolders(path: string): string[] {
  return path.split(delimiter).filter((folder) => isAbsolute(folder) && ![folder, realOf(folder)].some(isInWorkspace));
}

function isInWorkspace(place: string): boolean {
  return [...WORKSPACE].some((folder) => place === folder || place.startsWith(folder + sep));
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    // Not there: its name is all there is.
    return folder;
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
