/** What commands of one agent may reach. All paths are absolute; they may be links. */
export type SandboxPolicy = {
  /** The agent's checkout. */
  root: string;
  /** Folders beside it that commands may write to. */
  writable: readonly string[];
  home: string;
  dataFolder: string;
  /** Of the data folder, or of the temporary folder that the commands do not see: may be read all the same. */
  readable: readonly string[];
  /** Stands at /tmp inside; lasts as long as the agent. */
  temp: string;
  /** An empty file that stands for what is hidden. */
  blank: string;
  network: "off" | "on";
  /** False for who merges: branches may bring other settings of the project, and its checkout is nobody's policy. */
  keepsPolicy: boolean;
};

/** `temp`: the agent's own temporary folder stands there. */
type MountKind = "temp" | "write" | "read" | "hideFile" | "hideFolder";
export type Mount = { path: string; kind: MountKind };
/** A name that can't be mounted over, because it is not there or is a link: looked at while a command runs and after it.
 * `from` is the nearest folder above it that was there. */
export type Guarded = { path: string; link: string | undefined; from: string };

/** The longer path wins; of equal ones the stricter. */
export type SandboxPlan = {
  mounts: readonly Mount[];
  guarded: readonly Guarded[];
  /** Git folders that commands may write to. */
  gitFolders: readonly string[];
  /** Empty folders that are made to be mounted over, and go with the last command. */
  transient: readonly string[];
  temp: string;
  blank: string;
  network: "off" | "on";
};

const STRICTNESS: Readonly<Record<MountKind, number>> = { temp: 0, write: 1, read: 2, hideFile: 3, hideFolder: 3 };

/** In the order in which they are mounted: what lies deeper covers what lies above it. */
export function inOrder(mounts: readonly Mount[]): Mount[] {
  const strictest = new Map<string, Mount>();
  for (const mount of mounts) {
    const known = strictest.get(mount.path);
    if (!known || STRICTNESS[known.kind] < STRICTNESS[mount.kind]) strictest.set(mount.path, mount);
  }
  return [...strictest.values()].sort((a, b) => depth(a.path) - depth(b.path));
}

function depth(path: string): number {
  return path === "/" ? 0 : path.split("/").length;
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}
