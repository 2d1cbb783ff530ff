import { existsSync } from "node:fs";
import { copyFile, mkdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { isErrno, readTextOrUndefined, writeAtomic } from "../../platform/files.ts";
import { git, gitText } from "../../platform/git.ts";
import { FileModes } from "./file-modes.ts";

/** What git would change on the way in or out must not count: a snapshot holds the bytes. */
const BYTE_TRUE = "* -text -filter -ident -eol -working-tree-encoding\n";

export type SnapshotOptions = {
  /** The private object store: a git folder of our own, far from the user's. One for each project. */
  store: string;
  /** Absolute. */
  root: string;
  /** Two sessions in one folder have an index each. */
  session: string;
  isRepository: boolean;
};

export type SnapshotIndex = { index: string; env: NodeJS.ProcessEnv; modes: FileModes };

/** Makes the store where there is none, and the session's index in it. */
export async function openSnapshotIndex(options: SnapshotOptions): Promise<SnapshotIndex> {
  const { store, root, session, isRepository } = options;
  const user = isRepository ? await userGit(root) : undefined;
  await makeStore(store, user);
  const index = join(store, `index-${session}`);
  const env = {
    GIT_DIR: store,
    GIT_WORK_TREE: root,
    GIT_INDEX_FILE: index,
    // What the user's git holds already is not stored twice.
    ...(user ? { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(user.folder, "objects") } : {}),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
  };
  // Only this process uses it: a lock was left by one that was killed.
  await rm(`${index}.lock`, { force: true });
  const isOld = existsSync(index) && (await isWhole(root, env));
  if (!isOld) await rm(index, { force: true });
  if (!isOld && user) await copyUserIndex(root, user, index);
  // A split one names a file beside it, by which nothing stands here: the snapshot reads every file then.
  if (!isOld && !(await isWhole(root, env))) await rm(index, { force: true });
  const modes = new FileModes(`${index}.modes.json`);
  await modes.load();
  if (!isOld) await modes.noteAll(root, (await gitText(root, ["ls-files", "-z"], { env })).split("\0"));
  return { index, env, modes };
}

async function isWhole(root: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  return (await git(root, ["ls-files", "-z"], { env })).exitCode === 0;
}

/** Paths are absolute. */
type UserGit = { folder: string; index: string; attributes: string; format: string };

async function userGit(root: string): Promise<UserGit> {
  const asked = ["--git-common-dir", "--git-path", "index", "--git-path", "info/attributes", "--show-object-format"];
  const lines = (await gitText(root, ["rev-parse", "--path-format=absolute", ...asked])).split("\n");
  const [folder = "", index = "", attributes = "", format = "sha1"] = lines;
  return { folder, index, attributes, format };
}

async function makeStore(store: string, user: UserGit | undefined): Promise<void> {
  if (!existsSync(join(store, "info", "attributes"))) {
    await mkdir(store, { recursive: true, mode: 0o700 });
    await gitText(store, ["init", "--quiet", "--bare", "--template=", `--object-format=${user?.format ?? "sha1"}`, store]);
    // It has a work tree, but elsewhere and by environment.
    await gitText(store, ["--git-dir", store, "config", "core.bare", "false"]);
    await writeAtomic(join(store, "info", "attributes"), BYTE_TRUE);
  }
  const excluded = user && (await readTextOrUndefined(join(user.folder, "info", "exclude")));
  if (excluded !== undefined) await writeAtomic(join(store, "info", "exclude"), excluded);
}

/**
 * The user's index knows which files are as they were, so that only the others are read. Not where git turns bytes into others
 * on their way in (what it stored is not what lies there), nor where it was told to look away, nor in the middle of a merge.
 */
async function copyUserIndex(root: string, user: UserGit, index: string): Promise<void> {
  const [attributes, settings, unmerged, flags] = await Promise.all([
    gitText(root, ["ls-files", "--", ":(top,glob)**/.gitattributes"]),
    git(root, ["config", "--get-regexp", "^core\\.(autocrlf|attributesfile)$"]),
    gitText(root, ["ls-files", "-u"]),
    gitText(root, ["ls-files", "-v"]),
  ]);
  const isConverted = attributes !== "" || /autocrlf (true|input)|attributesfile/i.test(settings.stdout) || existsSync(user.attributes);
  // git looks at none of these files, whatever becomes of them: assume-unchanged is a small letter.
  const isBlind = /^[a-zS] /m.test(flags);
  if (isConverted || isBlind || unmerged !== "") return;
  try {
    const { atimeMs, mtimeMs } = await stat(user.index);
    await copyFile(user.index, index);
    // git reads again what changed in the second in which its index was written: the copy must not look newer.
    await utimes(index, Math.floor(atimeMs / 1000), Math.floor(mtimeMs / 1000));
  } catch (error) {
    // Nothing was added in this repository yet.
    if (!isErrno(error, "ENOENT")) throw error;
  }
}
