import { realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAncestor } from "../../platform/ancestry.ts";
import { exists, readTextOrUndefined } from "../../platform/files.ts";
import { GitError, git, gitText, tryGit } from "../../platform/git.ts";
import { removeLeftLocks } from "../../platform/left-locks.ts";
import { addWorktree, furnishWorktree } from "../../platform/worktree.ts";
import { worktreeState } from "../../platform/worktree-state.ts";
import type { PortBlock } from "../../protocol/team.ts";
import { commandMark } from "../left-commands.ts";
import { dismantleWorktree, equipWorktree, portsOf, type WorktreeNeeds } from "../worktree-needs.ts";

/** Belongs to the worktree alone and goes with it: the last commit that passed all looks. */
const ACCEPTED = "refs/worktree/roocode-accepted";

const CLEAN = ["clean", "-d", "--force", "--quiet", "--exclude=/node_modules"];

export type IntegrationRequest = {
  primary: string;
  path: string;
  start: string;
  worktreeLock: string;
  needs: WorktreeNeeds;
  onNote: (text: string) => void;
  signal: AbortSignal;
  onWorktree?: ((path: string) => Promise<void>) | undefined;
};

type IntegrationState = { path: string; start: string; accepted: string; ports: PortBlock };

/** The system's own worktree, in which branches come together. HEAD is detached; nobody's branch moves by what is done here. */
export class Integration {
  readonly path: string;
  /** The tip of the user's branch that all is built on. */
  readonly start: string;
  /** In the environment of what runs there. */
  readonly env: NodeJS.ProcessEnv;
  #accepted: string;
  readonly #furnish: () => Promise<unknown>;

  constructor({ path, start, accepted, ports }: IntegrationState, furnish: () => Promise<unknown>) {
    this.path = path;
    this.start = start;
    this.env = commandMark({ worktreePath: path, ports });
    this.#accepted = accepted;
    this.#furnish = furnish;
  }

  get accepted(): string {
    return this.#accepted;
  }

  async accept(commit: string): Promise<void> {
    await gitText(this.path, ["update-ref", ACCEPTED, commit]);
    this.#accepted = commit;
  }

  /** Back to a commit, whatever is there now: an unfinished merge, another branch, edits. Untracked and ignored files stay. */
  async reset(commit = this.#accepted): Promise<void> {
    if ((await git(this.path, ["symbolic-ref", "--quiet", "HEAD"])).exitCode === 0) {
      // A branch that was switched to must not be moved by the reset.
      await this.#must(["update-ref", "--no-deref", "HEAD", commit]);
    }
    const gitFolder = await gitText(this.path, ["rev-parse", "--absolute-git-dir"]);
    for (const state of ["rebase-merge", "rebase-apply"]) await rm(join(gitFolder, state), { recursive: true, force: true });
    // Nobody else works here, and HEAD is on no branch.
    await this.#must(["reset", "--hard", "--quiet", commit], { stillMs: 0 });
    // A merge that brought a file in the place of a furnished one took it away again.
    await this.#furnish();
  }

  /** Takes away what a command wrote while `commit` was out: changes, new files, another HEAD. Ignored files stay. */
  async tidy(commit: string): Promise<void> {
    const state = await worktreeState(this.path).catch((error: unknown) => {
      // What git can't read is not as it was.
      if (error instanceof GitError) return undefined;
      throw error;
    });
    if (state?.entries.length === 0 && state.head === commit && state.branch === undefined) return;
    await this.reset(commit);
    await git(this.path, CLEAN);
  }

  /** A git that was ended in the middle leaves its lock behind. */
  async #must(args: readonly string[], locks: { stillMs?: number } = {}): Promise<void> {
    if ((await tryGit(this.path, args)).exitCode === 0) return;
    await removeLeftLocks(this.path, locks);
    await gitText(this.path, args);
  }

  async head(): Promise<{ commit: string; isDetached: boolean; mergeHead: string | undefined }> {
    const [head, branch] = await Promise.all([
      git(this.path, ["rev-parse", "--absolute-git-dir", "HEAD^{commit}"]),
      git(this.path, ["symbolic-ref", "--quiet", "HEAD"]),
    ]);
    const [, gitFolder, commit = ""] = /^(.*)\n([0-9a-f]+)\n$/s.exec(head.stdout) ?? [];
    const merge = gitFolder === undefined ? undefined : await readTextOrUndefined(join(gitFolder, "MERGE_HEAD"));
    return { commit, isDetached: branch.exitCode !== 0, mergeHead: /^[0-9a-f]{40,64}/.exec(merge ?? "")?.[0] };
  }
}

/** What an earlier Converge accepted is kept when the user's branch has not moved on from under it; anything else is built anew. */
export async function openIntegration({
  primary,
  path,
  start,
  worktreeLock,
  needs,
  onWorktree,
  onNote,
  signal,
}: IntegrationRequest): Promise<Integration> {
  const place = { primary, path, needs };
  const furnish = () => furnishWorktree(primary, path, needs.includeFile);
  const earlier = await acceptedEarlier(path, primary, start);
  if (earlier !== undefined) {
    const integration = new Integration({ path, start, accepted: earlier, ports: await portsOf(place) }, furnish);
    await integration.reset();
    await git(path, CLEAN);
    return integration;
  }
  if (await exists(path)) for (const note of await dismantleWorktree(place, worktreeLock)) onNote(note);
  await addWorktree({ primary, path, commit: start, lockPath: worktreeLock });
  const { ports, notes } = await equipWorktree(place, signal).catch(async (error: unknown) => {
    // Half equipped, it must not be taken for whole by the next Converge.
    for (const note of await dismantleWorktree(place, worktreeLock)) onNote(note);
    throw error;
  });
  for (const note of notes) onNote(note);
  await onWorktree?.(path);
  const integration = new Integration({ path, start, accepted: start, ports }, furnish);
  await integration.accept(start);
  return integration;
}

async function acceptedEarlier(path: string, primary: string, start: string): Promise<string | undefined> {
  if (!(await exists(path))) return undefined;
  const top = await git(path, ["rev-parse", "--show-toplevel"]);
  const common = await git(path, ["rev-parse", "--path-format=absolute", "--git-common-dir"]);
  const ours = await git(primary, ["rev-parse", "--path-format=absolute", "--git-common-dir"]);
  if (top.exitCode !== 0 || common.stdout !== ours.stdout || !(await isSameFolder(top.stdout.trim(), path))) return undefined;
  const accepted = await git(path, ["rev-parse", "--verify", "--quiet", `${ACCEPTED}^{commit}`]);
  if (accepted.exitCode !== 0) return undefined;
  return (await isAncestor(path, start, accepted.stdout.trim())) ? accepted.stdout.trim() : undefined;
}

async function isSameFolder(first: string, second: string): Promise<boolean> {
  return (await realpath(first)) === (await realpath(second));
}

/** Merge commits along the first parents, by the commit that each brought in. */
export async function mergesBetween(repository: string, from: string, to: string): Promise<Map<string, string>> {
  const text = await gitText(repository, ["rev-list", "--first-parent", "--merges", "--parents", `${from}..${to}`]);
  return new Map(
    text.split("\n").flatMap((row) => {
      const [commit, , brought] = row.split(" ");
      return commit !== undefined && brought !== undefined ? [[brought, commit] as const] : [];
    }),
  );
}
