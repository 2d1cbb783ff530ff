import { UserError } from "../../protocol/errors.ts";
import type { GlobalFlags } from "../../runtime/surroundings.ts";
import type { OutputFormat } from "../print.ts";

/** What `roocode [prompt]` was asked for, with -p or without. */
export type TalkArguments = GlobalFlags & {
  print: boolean;
  prompt: string | undefined;
  outputFormat: OutputFormat;
  /** Messages come as JSON lines on standard input. */
  isStreamInput?: boolean;
  /** stream-json shows answers while they are written. */
  includePartial?: boolean;
  /** Permission questions go to the program in front, as control requests. */
  asksOverStream?: boolean;
  maxTurns: number;
  resume: string | undefined;
  /** Go on with a copy of the session, which stays as it is. */
  fork?: boolean | undefined;
  mcpConfig?: readonly string[] | undefined;
  /** A new session begins in Coordinator Mode. */
  isCoordinator?: boolean | undefined;
};

const NO_ID = "--resume needs the id of a session here: roocode sessions list shows them, -c goes on with the latest.";

/** Gives the exit code. */
export async function talk(args: TalkArguments): Promise<number> {
  if (args.fork) return talk({ ...args, fork: false, resume: await copyOf(args) });
  if (args.asksOverStream && !args.isStreamInput)
    throw new UserError("--permission-prompt-tool stdio goes with -p --input-format stream-json --output-format stream-json.");
  if (args.resume === "" && (args.print || args.isStreamInput)) throw new UserError(NO_ID);
  // Messages as JSON lines come from a program: agent SDKs leave -p out.
  if (args.print || args.isStreamInput) return (await import("./print.ts")).printCommand(args);
  return (await import("./chat.ts")).chatCommand(args);
}

async function copyOf(args: TalkArguments): Promise<string> {
  if (args.resume === "") throw new UserError(NO_ID);
  if (args.resume === undefined) throw new UserError("--fork-session goes with --resume ID or -c: it says which session to copy.");
  const { forkForTalk } = await import("./sessions.ts");
  return forkForTalk(args.resume, args);
}
