import { createInterface } from "node:readline";
import { projectPaths } from "../../platform/paths.ts";
import { UserError } from "../../protocol/errors.ts";
import { type GlobalFlags, readSurroundings } from "../../runtime/surroundings.ts";
import { ruleReader } from "../../safety/rule-files.ts";
import { oneCall, permissionsCheck } from "./permissions-check.ts";

/** `roocode permissions check`: what is absent from a call is taken from where this runs. */
export async function checkCommand(args: GlobalFlags & { tool?: string | undefined; input?: string | undefined }): Promise<number> {
  if ((args.tool === undefined) !== (args.input === undefined)) {
    throw new UserError(`--tool and --input go together: roocode permissions check --tool Bash --input '{"command":"ls"}'`);
  }
  if (args.tool === undefined && process.stdin.isTTY)
    throw new UserError("Give --tool and --input, or calls as JSON lines on standard input.");
  const { cwd, root, home, data, settings, flags, projectRoot } = await readSurroundings(process.cwd(), process.env, args);
  const project = projectPaths(projectRoot);
  const calls =
    args.tool === undefined
      ? createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
      : oneCall(args.tool, args.input ?? "{}");
  return permissionsCheck(
    calls,
    { out: (line) => process.stdout.write(`${line}\n`), warn: (line) => process.stderr.write(`${line}\n`) },
    {
      cwd,
      root,
      home,
      dataFolder: data.root,
      extraRoots: [...(settings.addDirs ?? []), ...(flags.addDir ?? [])],
      mode: flags.permissionMode ?? settings.permissionMode ?? "default",
      isTrusted: true,
      rules: ruleReader({ user: data.config, project: project.config, local: project.localConfig }),
    },
  );
}
