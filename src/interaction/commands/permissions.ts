import { createInterface } from "node:readline";
import { UserError } from "../../protocol/errors.ts";
import { memoryFolders } from "../../runtime/memory-folders.ts";
import { projectRules } from "../../runtime/permissions.ts";
import { type GlobalFlags, readSurroundings } from "../../runtime/surroundings.ts";
import { outliveOutput } from "../lost-output.ts";
import { oneCall, permissionsCheck } from "./permissions-check.ts";

/** `roocode permissions check`: what is absent from a call is taken from where this runs. */
export async function checkCommand(
  args: GlobalFlags & { tool?: string | undefined; input?: string | undefined; command?: string | undefined },
): Promise<number> {
  if (args.command !== undefined && args.command !== "") {
    if (args.tool !== undefined) throw new UserError("Give a command line, or --tool and --input, not both.");
    const words = { tool: "Bash", input: JSON.stringify({ command: args.command }), command: undefined };
    return checkCommand({ ...args, ...words });
  }
  if ((args.tool === undefined) !== (args.input === undefined)) {
    throw new UserError(`--tool and --input go together: roocode permissions check --tool Bash --input '{"command":"ls"}'`);
  }
  if (args.tool === undefined && process.stdin.isTTY)
    throw new UserError("Give a command line, --tool and --input, or calls as JSON lines on standard input.");
  const surroundings = await readSurroundings(process.cwd(), process.env, args);
  const { cwd, root, home, data, settings, flags } = surroundings;
  const { rules, isTrusted, addDirs, warnings } = await projectRules(surroundings);
  for (const warning of [...surroundings.warnings, ...warnings]) process.stderr.write(`${warning}\n`);
  const calls =
    args.tool === undefined
      ? createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
      : oneCall(args.tool, args.input ?? "{}");
  outliveOutput();
  return permissionsCheck(
    calls,
    { out: (line) => process.stdout.write(`${line}\n`), warn: (line) => process.stderr.write(`${line}\n`) },
    {
      cwd,
      root,
      home,
      dataFolder: data.root,
      extraRoots: addDirs,
      readRoots: memoryFolders(surroundings).map(({ path }) => path),
      mode: flags.permissionMode ?? settings.permissionMode ?? "default",
      isTrusted,
      rules,
    },
  );
}
