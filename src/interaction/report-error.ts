import { UserError } from "../protocol/errors.ts";

/** The last place that sees an error: a person's mistake is one line, anything else is a bug and says so. Gives the exit code. */
export function reportError(error: unknown, debug: boolean): number {
  if (error instanceof UserError) {
    process.stderr.write(`roocode: ${error.message}\n`);
    if (debug && error.cause) process.stderr.write(`${String(error.cause)}\n`);
    return error.exitCode;
  }
  const text = error instanceof Error ? (debug ? error.stack : error.message) : String(error);
  process.stderr.write(`roocode: unexpected error: ${text}${debug ? "" : " (run again with --debug for the stack)"}\n`);
  return 1;
}
