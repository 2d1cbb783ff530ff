import { runCommand } from "../../platform/process.ts";
import { UserError } from "../../protocol/errors.ts";
import type { Terminal } from "./scripted.ts";

/**
 * A terminal of the person's choice, by its own commands. `open` prints the pane's id on its last line; in it `{cwd}`, `{name}` and
 * `{title}` are replaced, and `{command}`, a word of its own, stands for the program with its arguments. `{pane}` in `close` is the id.
 */
export type PaneCommands = { open: readonly string[]; close?: readonly string[] | undefined };

const TIMEOUT_MS = 15_000;

export function commandTerminal({ open, close }: PaneCommands, team: string, env: NodeJS.ProcessEnv): Terminal {
  return {
    kind: "command",
    async open({ name, worktreePath }, script) {
      const values = { cwd: worktreePath, name, title: `${name} (${team})` };
      const words = open.flatMap((word) => (word === "{command}" ? ["/bin/sh", script] : [filled(word, values)]));
      const [file = "", ...args] = words;
      const { exitCode, stdout, stderr, missing, timedOut } = await runCommand(file, args, { env, timeoutMs: TIMEOUT_MS });
      if (missing) throw new UserError(`team.pane.open: there is no program ${file}.`);
      if (timedOut)
        throw new UserError(`team.pane.open: ${file} did not end within ${TIMEOUT_MS / 1000} s; it must open the pane and end.`);
      if (exitCode !== 0)
        throw new UserError(`team.pane.open: ${file} ended with exit status ${exitCode}: ${(stderr || stdout).trim().split("\n", 1)[0]}`);
      // A terminal that names no pane can close none: its pane ends with the program.
      return stdout.trim().split("\n").at(-1)?.trim() || `pane of ${name}`;
    },
    async close(pane) {
      const [file, ...args] = close ?? [];
      if (file === undefined) return;
      // Its program has ended, so as a rule it is closed already.
      await runCommand(
        file,
        args.map((word) => filled(word, { pane })),
        { env, timeoutMs: TIMEOUT_MS },
      );
    },
  };
}

function filled(word: string, values: Readonly<Record<string, string>>): string {
  return word.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
