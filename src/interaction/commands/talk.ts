import type { GlobalFlags } from "../../runtime/surroundings.ts";
import type { OutputFormat } from "../print.ts";

/** What `roocode [prompt]` was asked for, with -p or without. */
export type TalkArguments = GlobalFlags & {
  print: boolean;
  prompt: string | undefined;
  outputFormat: OutputFormat;
  maxTurns: number;
  resume: string | undefined;
  mcpConfig?: readonly string[] | undefined;
};

/** Gives the exit code. */
export async function talk(args: TalkArguments): Promise<number> {
  if (args.print) return (await import("./print.ts")).printCommand(args);
  return (await import("./chat.ts")).chatCommand(args);
}
