import { homedir, release, type } from "node:os";
import { resolve } from "node:path";
import type { Environment } from "../engine/system-prompt.ts";
import { exists } from "../platform/files.ts";
import { isTracked } from "../platform/git.ts";
import { type DataPaths, dataPaths, projectPaths } from "../platform/paths.ts";
import { findRepository, type Repository } from "../platform/repository.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { loadSettings, type Settings } from "./settings.ts";

/** Global flags; they beat the environment, which beats settings. */
export type GlobalFlags = {
  model?: string | undefined;
  permissionMode?: PermissionMode | undefined;
  addDir?: readonly string[] | undefined;
  trust?: boolean | undefined;
  debug?: boolean | undefined;
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
  /** The local settings came with the repository: they count as the project's. */
  isLocalForeign: boolean;
  /** Folders beside the root that file tools may use, absolute: the person's, and what the project asks for. */
  addDirs: { own: readonly string[]; project: readonly string[] };
  warnings: string[];
  flags: GlobalFlags;
};

export async function readSurroundings(cwd: string, env: NodeJS.ProcessEnv, flags: GlobalFlags): Promise<Surroundings> {
  const home = env.HOME ?? homedir();
  const data = dataPaths(home, env.ROOCODE_HOME);
  const repository = findRepository(cwd);
  const root = repository?.top ?? cwd;
  const projectRoot = repository?.primary ?? cwd;
  const project = projectPaths(projectRoot);
  const { localConfig } = project;
  const isLocalForeign = repository !== undefined && (await exists(localConfig)) && (await isTracked(projectRoot, localConfig));
  const { settings, projectDirs, warnings } = await loadSettings({
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
  return { cwd, home, env, data, repository, root, projectRoot, settings, isLocalForeign, addDirs, warnings, flags };
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
