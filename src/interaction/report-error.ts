import { homedir } from "node:os";
import { isErrno } from "../platform/files.ts";
import { dataPaths } from "../platform/paths.ts";
import { UserError } from "../protocol/errors.ts";

/** The last place that sees an error: a person's mistake is one line, anything else is a bug and is logged whole. Gives the exit code. */
export async function reportError(error: unknown, debug: boolean): Promise<number> {
  if (error instanceof UserError) {
    process.stderr.write(`roocode: ${error.message}\n`);
    if (debug && error.cause) process.stderr.write(`${String(error.cause)}\n`);
    return error.exitCode;
  }
  if (error instanceof Error && isErrno(error, "ENOSPC", "EDQUOT")) {
    process.stderr.write(`roocode: The disk is full (${error.message}). Free some space; a team goes on with: roocode team resume NAME\n`);
    return 1;
  }
  const noAccess = accessProblem(error);
  if (noAccess !== undefined) {
    process.stderr.write(`roocode: ${noAccess} Use an account that may, or change the rights.\n`);
    return 1;
  }
  const text = error instanceof Error ? (debug ? error.stack : error.message) : String(error);
  process.stderr.write(`roocode: unexpected error: ${text}\n`);
  await logError(error).catch((problem: unknown) => {
    process.stderr.write(`It could not be logged either: ${problem instanceof Error ? problem.message : String(problem)}\n`);
  });
  return 1;
}

const NO_ACCESS = new Map([
  ["EROFS", "the file system is read-only"],
  ["EACCES", "permission denied"],
  ["EPERM", "not permitted"],
]);

/** A right that is missing is a matter of the machine, not a bug. */
function accessProblem(error: unknown): string | undefined {
  if (!(error instanceof Error && "code" in error && "path" in error && "syscall" in error)) return undefined;
  // Making folders on a read-only file system, Node says of the first one only that it is not there.
  if (error.code === "ENOENT" && error.syscall === "mkdir") return `The folder ${error.path} can't be made: nothing can be written there.`;
  const why = NO_ACCESS.get(String(error.code));
  return why === undefined ? undefined : `${error.path} can't be used: ${why} (${error.syscall}).`;
}

async function logError(error: unknown): Promise<void> {
  const [{ openLog }, { maskSecrets }] = await Promise.all([import("../platform/log.ts"), import("../safety/secrets.ts")]);
  const folder = dataPaths(process.env.HOME ?? homedir(), process.env.ROOCODE_HOME).log;
  const log = await openLog(folder, maskSecrets);
  log.error({ err: error, argv: process.argv.slice(2, 4) }, "unexpected error");
  process.stderr.write(`The whole of it is in ${log.path}.\n`);
}
