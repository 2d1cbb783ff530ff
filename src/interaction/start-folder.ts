import { UserError } from "../protocol/errors.ts";

/** A folder that was removed under the shell: everything that follows would fail with less to say. */
export function requireFolder(): void {
  try {
    process.cwd();
  } catch (cause) {
    throw new UserError("The folder that this was started in is gone. Change to one that exists: cd ~", { cause });
  }
}
