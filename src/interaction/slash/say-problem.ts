import { GitError } from "../../platform/git.ts";
import { UserError } from "../../protocol/errors.ts";

/** What the person can mend, a folder that is closed or full among it, and a git that fails, is said; a bug is thrown on. */
export function sayProblem(error: unknown, print: (text: string) => void): void {
  if (!(error instanceof UserError) && !(error instanceof GitError) && !(error instanceof Error && "code" in error)) throw error;
  print(error.message);
}
