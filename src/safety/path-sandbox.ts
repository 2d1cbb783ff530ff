import { lstatSync, readlinkSync } from "node:fs";
import { isAbsolute, join, posix, sep } from "node:path";
import {
  checkEnvName,
  checkHomeRead,
  checkHomeWrite,
  checkSystemWrite,
  checkWriteNames,
  FREE,
  isPolicyContainer,
  type NameCheck,
} from "./protected-paths.ts";

/** How layer 2 looks at the disk; a test passes its own. */
export type FileLook = {
  look(path: string): { kind: "file" | "folder" | "link" | "other"; links: number } | undefined;
  /** Undefined when the link is gone. */
  readLink(path: string): string | undefined;
  /** Where paths were found to lead, for the length of one decision. */
  resolved?: Map<string, string | undefined>;
};

/** `ownBranch` and the two folders of a teammate: what it must not reach beside its own worktree. */
export type TeamPlace = { primaryCheckout: string; ownBranch: string; worktreesRoot: string };

/** Where an agent works. Roots and folders are absolute; they may be links themselves. */
export type Ground = {
  root: string;
  cwd: string;
  home: string;
  dataFolder: string;
  extraRoots: readonly string[];
  /** Folders that may be read and never written. */
  readRoots?: readonly string[] | undefined;
  team?: TeamPlace | undefined;
  /** The one file outside of the roots that may be written: the session's plan. */
  planFile?: string | undefined;
  files: FileLook;
};

export type PathUse = "read" | "write";
export type PathVerdict = {
  place: "inside" | "outside" | "protected";
  isSticky: boolean;
  /** What git or RooCode obeys: a deny also when a command reaches it. */
  isPolicy: boolean;
  /** Another checkout of the same team. */
  isOthers: boolean;
  /** Keys, passwords, files of secrets. */
  isSecret: boolean;
  reason: string;
  resolved?: string;
};

const LINK_LIMIT = 40;
const NO_FILES = ["proc", "dev", "sys"];

export const DISK: FileLook = {
  look(path) {
    try {
      // Most paths of a decision do not exist; an error for each would be the dearest part of it.
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (!found) return undefined;
      const kind = found.isFile() ? "file" : found.isDirectory() ? "folder" : found.isSymbolicLink() ? "link" : "other";
      return { kind, links: found.nlink };
    } catch {
      // Not there, or not ours to look at: what stays is the name, and that is judged.
      return undefined;
    }
  },
  readLink(path) {
    try {
      return readlinkSync(path);
    } catch {
      // Removed since it was looked at: the path is refused like one that leads nowhere.
      return undefined;
    }
  },
};

/** The same look for the length of one decision: each path is looked at once, so its parts can't disagree. */
export function rememberLooks(files: FileLook): FileLook {
  const looks = new Map<string, ReturnType<FileLook["look"]>>();
  return {
    resolved: new Map(),
    look(path) {
      if (!looks.has(path)) looks.set(path, files.look(path));
      return looks.get(path);
    },
    readLink: (path) => files.readLink(path),
  };
}

const PLAIN = { isSticky: false, isPolicy: false, isOthers: false, isSecret: false };

/** Layer 2: where the path leads, and whether that may be touched. `meansFile` refuses a folder or a pipe. */
export function judgePath(given: string, use: PathUse, ground: Ground, meansFile: boolean): PathVerdict {
  const outside = (reason: string): PathVerdict => ({ ...PLAIN, place: "outside", reason });
  if (given === "" || given.includes("\0")) return outside(`the path ${JSON.stringify(given)} is empty or has a NUL`);
  const absolute = toAbsolute(given, ground);
  const lexical = normalize(absolute);
  if (isKernelPath(absolute) || isKernelPath(lexical)) return outside(`"${given}" is not a file of the workspace`);
  const resolved = resolvePhysically(absolute, ground.files);
  if (resolved === undefined) return outside(`"${given}" is a loop of links`);
  if (isKernelPath(resolved)) return outside(`"${given}" is not a file of the workspace`);
  if (ground.planFile !== undefined && resolved === ownPlace(ground.planFile, ground))
    return judgeInside(given, resolved, use, ground, meansFile, []);

  const names = [checkNames(lexical, use, ground), checkNames(resolved, use, ground)];
  const shielded = names.find((check) => check.isProtected);
  const isInside = rootsFor(use, ground).some((root) => isWithin(resolved, root));
  if (isInside && !shielded) return judgeInside(given, resolved, use, ground, meansFile, names);
  return {
    place: isInside ? "protected" : "outside",
    isSticky: false,
    isPolicy: shielded?.isPolicy ?? false,
    isOthers: reachesOthers(resolved, ground),
    isSecret: names.some((check) => check.isSecret),
    reason: othersReason(given, resolved, ground) ?? shielded?.reason ?? outsideReason(given, ground),
    resolved,
  };
}

function judgeInside(
  given: string,
  resolved: string,
  use: PathUse,
  ground: Ground,
  meansFile: boolean,
  names: readonly NameCheck[],
): PathVerdict {
  const inside: PathVerdict = { ...PLAIN, place: "inside", reason: "inside the workspace", resolved };
  const found = ground.files.look(resolved);
  if (meansFile && found?.kind === "folder")
    return { ...inside, place: "protected", reason: `"${given}" is not a regular file but a directory: see what is in it with Glob` };
  if (found?.kind === "other") return { ...inside, place: "protected", reason: `"${given}" is not a regular file` };
  const sticky = names.find((check) => check.isSticky);
  if (sticky) return { ...inside, isSticky: true, isSecret: sticky.isSecret, reason: sticky.reason };
  // Package managers link whole stores into these folders; a read there is no sign of a planted link.
  const isStore = use === "read" && /[/\\](node_modules|\.venv|site-packages)[/\\]/.test(resolved);
  if (found?.kind === "file" && found.links > 1 && !isStore)
    return { ...inside, isSticky: true, reason: `"${given}" has more than one name on the disk (hard link), one of which may be outside` };
  return inside;
}

/** A Glob pattern that leaves the folder it starts in. */
export function patternLeaves(pattern: string): boolean {
  if (isAbsolute(pattern) || pattern.startsWith("~") || pattern.includes("\0")) return true;
  return pattern.split(/[/\\{},]/).includes("..") || /[{,]\//.test(pattern);
}

/** Follows every link component by component, `..` after the link, as the kernel does. Missing components stay; undefined for a loop. */
export function resolvePhysically(absolute: string, files: FileLook): string | undefined {
  const { resolved } = files;
  if (!resolved) return walkLinks(absolute, files);
  if (!resolved.has(absolute)) resolved.set(absolute, walkLinks(absolute, files));
  return resolved.get(absolute);
}

function walkLinks(absolute: string, files: FileLook): string | undefined {
  let done = "/";
  let rest = absolute.split("/");
  let links = 0;
  while (rest.length > 0) {
    const [name, ...later] = rest;
    rest = later;
    if (name === undefined || name === "" || name === ".") continue;
    if (name === "..") {
      done = parent(done);
      continue;
    }
    const next = done === "/" ? `/${name}` : `${done}/${name}`;
    if (files.look(next)?.kind !== "link") {
      done = next;
      continue;
    }
    if (++links > LINK_LIMIT) return undefined;
    const target = files.readLink(next);
    if (target === undefined) return undefined;
    if (target.startsWith("/")) done = "/";
    rest = [...target.split("/"), ...rest];
  }
  return done;
}

export function toAbsolute(given: string, ground: { cwd: string; home: string }): string {
  if (given === "~") return ground.home;
  if (given.startsWith("~/")) return `${ground.home}/${given.slice(2)}`;
  if (sep === "\\") return isAbsolute(given) ? given : join(ground.cwd, given);
  return given.startsWith("/") ? given : `${ground.cwd}/${given}`;
}

export function normalize(absolute: string): string {
  return posix
    .normalize(absolute)
    .replace(/^\/\/+/, "/")
    .replace(/(.)\/$/, "$1");
}

export function isWithin(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

export function components(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}

/** The real roots. */
export function roots(ground: Ground): string[] {
  return [ground.root, ...ground.extraRoots].map((root) => real(root, ground));
}

function rootsFor(use: PathUse, ground: Ground): string[] {
  const readOnly = use === "read" ? (ground.readRoots ?? []) : [];
  return [...roots(ground), ...readOnly.map((root) => real(root, ground))];
}

export function real(path: string, ground: Ground): string {
  return resolvePhysically(path, ground.files) ?? path;
}

/** Where the file itself stands: a link in its place leads to no other. */
function ownPlace(file: string, ground: Ground): string {
  return `${real(parent(file), ground)}${file.slice(file.lastIndexOf("/"))}`;
}

/** The components below `folder`, given or real; undefined when the path is not below it. */
export function below(path: string, folder: string, ground: Ground): string[] | undefined {
  for (const base of [folder, real(folder, ground)]) if (isWithin(path, base)) return components(path.slice(base.length));
  return undefined;
}

function parent(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

function isKernelPath(path: string): boolean {
  return NO_FILES.includes(components(path)[0] ?? "");
}

function checkNames(path: string, use: PathUse, ground: Ground): NameCheck {
  const inRoot = [ground.root, ...ground.extraRoots].map((root) => below(path, root, ground)).find((names) => names !== undefined);
  const inHome = below(path, ground.home, ground);
  if (use === "read") {
    const secret = inHome ? checkHomeRead(inHome) : undefined;
    if (secret?.isProtected) return secret;
    const key = below(path, ground.dataFolder, ground);
    if (key && (key.includes("keys") || key.includes("boot")) && !inOwnRoot(path, ground))
      return { ...FREE, isProtected: true, isSecret: true, reason: "the keys of a team are read by no tool" };
    return checkEnvName(inRoot ?? components(path));
  }
  if (below(path, ground.dataFolder, ground) && !inOwnRoot(path, ground))
    return { ...FREE, isProtected: true, isPolicy: true, reason: `"${path}" is in RooCode's data folder: no tool writes there` };
  const checks = [
    checkWriteNames(inRoot ?? components(path)),
    inHome ? checkHomeWrite(inHome) : undefined,
    checkSystemWrite(components(path)),
  ];
  return checks.find((check) => check?.isProtected) ?? checks.find((check) => check?.isSticky) ?? FREE;
}

/** A worktree below the data folder is free when it is the root itself. */
function inOwnRoot(path: string, ground: Ground): boolean {
  return below(ground.root, ground.dataFolder, ground) !== undefined && below(path, ground.root, ground) !== undefined;
}

export function isPolicyFolder(path: string, ground: Ground): boolean {
  if (path === ground.dataFolder || path === real(ground.dataFolder, ground)) return true;
  const inRoot = below(path, ground.root, ground);
  return isPolicyContainer(inRoot ?? components(path));
}

function outsideReason(given: string, { root }: Ground): string {
  return `"${given}" is outside the workspace (${root}); add its folder with --add-dir to work there`;
}

/** Most often the same file of its own worktree is meant. */
function othersReason(given: string, resolved: string, ground: Ground): string | undefined {
  if (!ground.team || !reachesOthers(resolved, ground)) return undefined;
  const { primaryCheckout, worktreesRoot } = ground.team;
  // So deep below the root lies each worktree, as the own one does.
  const depth = below(ground.root, worktreesRoot, ground)?.length;
  const inPrimary = below(resolved, primaryCheckout, ground);
  const inOther = depth === undefined ? undefined : below(resolved, worktreesRoot, ground)?.slice(depth);
  const own = join(ground.root, ...(inOther ?? inPrimary ?? []));
  return `"${given}" belongs to the primary checkout or to another teammate; in your own worktree it is "${own}"`;
}

/** The primary checkout or another's worktree, seen from a teammate. */
export function reachesOthers(resolved: string, ground: Ground): boolean {
  if (!ground.team || below(resolved, ground.root, ground)) return false;
  return [ground.team.primaryCheckout, ground.team.worktreesRoot].some((folder) => below(resolved, folder, ground) !== undefined);
}
