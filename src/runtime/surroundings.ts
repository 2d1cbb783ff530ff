import { accessSync, constants, existsSync, statSync } from "node:fs";
import { homedir, release, type } from "node:os";
import { dirname, isAbsolute, resolve } from "node:path";
import type { Environment } from "../engine/system-prompt.ts";
import { exists } from "../platform/files.ts";
import { keepProgramsFrom } from "../platform/own-programs.ts";
import { type DataPaths, dataPaths, projectPaths } from "../platform/paths.ts";
import { findRepository, type Repository } from "../platform/repository.ts";
import { UserError } from "../protocol/errors.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { loadSettings, type ProjectWish, type WorktreeCommands } from "./settings.ts";
import type { Settings } from "./settings-schema.ts";

/** Global flags; they beat the environment, which beats settings. */
export type GlobalFlags = {
  model?: string | undefined;
  permissionMode?: PermissionMode | undefined;
  addDir?: readonly string[] | undefined;
  trust?: boolean | undefined;
  debug?: boolean | undefined;
  /** US dollars that the conversation, or all agents of a team together, may cost. */
  maxCost?: number | undefined;
  fallbackModel?: string | undefined;
  /** Rules of this run, `Read,Bash(git status:*)`. */
  allowedTools?: readonly string[] | undefined;
  disallowedTools?: readonly string[] | undefined;
};

/** Where an agent runs and what is in force there; read once at the start. */
export type Surroundings = {
  cwd: string;
  home: string;
  env: NodeJS.ProcessEnv;
  data: DataPaths;
  repository: Repository | undefined;
  /** Top of the checkout, or the working folder outside of one. */
  root: string;
  /** Whose settings, rules and trust count: for a worktree, the primary checkout's. */
  projectRoot: string;
  settings: Settings;
  /** The local settings came with the repository, or may have come with an archive: they count as the project's. */
  isLocalForeign: boolean;
  /** Folders beside the root that file tools may use, absolute: the person's, and what the project asks for. */
  addDirs: { own: readonly string[]; project: readonly string[] };
  /** Command by which the project wants a team's result checked. */
  projectCheck?: string;
  /** Commands that it wants run in each worktree. */
  projectWorktree: WorktreeCommands;
  /** What the project brings beside these that runs or loosens. */
  projectWish: ProjectWish;
  warnings: string[];
  /** Nothing can be written to the data folder; a warning says so. */
  isDataReadOnly: boolean;
  flags: GlobalFlags;
};

export async function readSurroundings(cwd: string, env: NodeJS.ProcessEnv, flags: GlobalFlags): Promise<Surroundings> {
  const home = env.HOME ?? homedir();
  const data = dataPaths(home, env.ROOCODE_HOME);
  refuseUnusable(data.root, homeVariable(env));
  const readOnly = readOnlyData(data.root, homeVariable(env));
  const repository = findRepository(cwd);
  const root = repository?.top ?? cwd;
  const projectRoot = repository?.primary ?? cwd;
  const project = projectPaths(projectRoot);
  const { localConfig } = project;
  const isLocalForeign = (await exists(localConfig)) && (await isForeign(localConfig, { projectRoot, repository, data, flags }));
  const { settings, projectDirs, projectCheck, projectWorktree, projectWish, warnings } = await loadSettings({
    user: data.config,
    project: project.config,
    local: localConfig,
    isLocalForeign,
  });
  const inProject = (folder: string) => resolve(projectRoot, folder.replace(/^~(?=\/|$)/, home));
  const addDirs = {
    own: [...(settings.addDirs ?? []).map(inProject), ...(flags.addDir ?? []).map((folder) => resolve(cwd, folder))],
    project: projectDirs.map(inProject),
  };
  keepProgramsFrom([root, projectRoot, ...addDirs.own, ...addDirs.project]);
  return {
    cwd,
    home,
    env,
    data,
    repository,
    root,
    projectRoot,
    settings,
    isLocalForeign,
    addDirs,
    ...(projectCheck === undefined ? {} : { projectCheck }),
    projectWorktree,
    projectWish,
    warnings: readOnly === undefined ? warnings : [`${readOnly} Nothing of a session is kept until then.`, ...warnings],
    isDataReadOnly: readOnly !== undefined,
    flags,
  };
}

type Place = Pick<Surroundings, "projectRoot" | "repository" | "data" | "flags">;

/** git, or the store of what was accepted, loads for those who have such a file. */
async function isForeign(localConfig: string, { projectRoot, repository, data, flags }: Place): Promise<boolean> {
  if (repository) return (await import("../platform/git.ts")).cameWithRepository(projectRoot, localConfig);
  const { isOwnFile, ownFile } = await import("../safety/own-files.ts");
  if (flags.trust) await ownFile(data.trust, localConfig);
  return !(await isOwnFile(data.trust, localConfig));
}

/** The variable that the data folder comes from. */
export function homeVariable(env: NodeJS.ProcessEnv): "HOME" | "ROOCODE_HOME" {
  return env.ROOCODE_HOME === undefined ? "HOME" : "ROOCODE_HOME";
}

/** The data folder, or the nearest folder above it that is there, must be a folder. */
function refuseUnusable(root: string, variable: string): void {
  // Teammates run elsewhere: a path from here would lead them to another place.
  if (!isAbsolute(root)) throw new UserError(`The data folder ${root} is not a full path. ${mend(variable)}`);
  const nearest = nearestThere(root);
  if (!statSync(nearest).isDirectory()) throw new UserError(`The data folder can't be ${root}: ${nearest} is a file. ${mend(variable)}`);
}

/** A sentence for the person where nothing can be written to it: a session goes on without, a team can't. */
export function readOnlyData(root: string, variable: string): string | undefined {
  try {
    accessSync(nearestThere(root), constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return `The data folder ${root} can't be written to. ${mend(variable)}`;
  }
}

function mend(variable: string): string {
  return `Set ${variable} to the full path of a folder that you may write to.`;
}

function nearestThere(path: string): string {
  let nearest = path;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  return nearest;
}

export function environmentOf({ cwd, repository }: Surroundings): Environment {
  return {
    cwd,
    os: `${type()} ${release()}`,
    shell: "bash",
    ...(repository ? { gitBranch: repository.branch ?? "(detached HEAD)" } : {}),
    date: new Date().toISOString().slice(0, 10),
  };
}
