/** Ended by a signal that was not ours (no memory, a kill to all): it says nothing of what it found or did, and may leave its locks. */
export class GitKilled extends Error {
  override readonly name = "GitKilled";
  constructor(args: readonly string[], signal: NodeJS.Signals) {
    super(`git ${args.join(" ")} was ended by ${signal}`);
  }
}

const READERS = new Set(
  "cat-file check-attr check-ignore diff diff-tree for-each-ref grep log ls-files ls-tree merge-base merge-tree rev-list rev-parse show show-ref status".split(
    " ",
  ),
);
/** Nobody but the system writes these. */
const OWN_REFS = "refs/(?:worktree|roocode)/";

/** Whether a git does the same when it is run again, as far as it came before. */
export function isRepeatable(args: readonly string[]): boolean {
  const [command = "", verb = "", ...more] = args.filter((word) => !word.startsWith("-"));
  switch (command) {
    case "update-ref":
      return args.some((word) => new RegExp(`^${OWN_REFS}`).test(word));
    case "symbolic-ref":
      return more.length === 0;
    case "config":
      return args.some((word) => /^--(get|list)/.test(word));
    case "worktree":
      return verb === "list" || verb === "prune";
    default:
      return READERS.has(command) || command === "clean";
  }
}

/** The lock of a ref of our own that stops this one. */
export function ownRefLock(stderr: string): string | undefined {
  return new RegExp(`Unable to create '(/[^']*/${OWN_REFS}[^']+\\.lock)': File exists`).exec(stderr)?.[1];
}
