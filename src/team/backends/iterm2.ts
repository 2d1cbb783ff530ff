import { runCommand } from "../../platform/process.ts";
import { UserError } from "../../protocol/errors.ts";
import type { TeammateInfo } from "../../protocol/team.ts";
import { quoted } from "./pane-script.ts";
import type { Terminal } from "./scripted.ts";

const TIMEOUT_MS = 10_000;

/**
 * Panes of iTerm2 through the command `it2` (pip install it2): lead left, teammates stacked on the right. A split takes no program there,
 * so one short line is typed that names a script. Of the lead's session the id is the part of $ITERM_SESSION_ID behind the colon.
 */
export function iterm2Terminal(env: NodeJS.ProcessEnv): Terminal {
  const lead = env.ITERM_SESSION_ID?.split(":").at(-1);
  /** The teammates' panes, the last one opened at the end. */
  const column: string[] = [];
  let isProbed = false;

  async function it2(...args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr, missing, timedOut } = await runCommand("it2", args, { env, timeoutMs: TIMEOUT_MS });
    if (missing) throw new UserError("There is no it2 on PATH. Install it with pip install it2, or choose --backend tmux or process.");
    if (timedOut) throw new UserError(`it2 ${args[0]} ${args[1]} gave no answer within ${TIMEOUT_MS / 1000} s.`);
    if (exitCode !== 0) throw new UserError(refusal(stderr || stdout));
    return stdout;
  }

  /** Another program of the same name exists, with other commands. */
  async function probe(): Promise<void> {
    if (isProbed) return;
    const said = await it2("--version");
    if (!/^it2,? version/i.test(said.trim()))
      throw new UserError(
        `The it2 on PATH is another program (it says "${said.trim().slice(0, 80)}"). Install the one of pip install it2.`,
      );
    isProbed = true;
  }

  /** Quotes of sh are those of zsh, bash, fish, csh and nu too, as long as no quote stands inside. */
  const startLine = (script: string) => `exec /bin/sh ${quoted(script)}`;

  return {
    kind: "iterm2",
    async open({ name }: TeammateInfo, script) {
      if (script.includes("'"))
        throw new UserError(`${script} has a quotation mark in it and can't be typed into a shell. Set ROOCODE_HOME to a plain path.`);
      await probe();
      const anchor = column.at(-1);
      const place = anchor === undefined ? ["-v", ...(lead ? ["-s", lead] : [])] : ["-s", anchor];
      const said = await it2("session", "split", ...place);
      const id = /Created new pane:\s*(\S+)/.exec(said)?.[1];
      if (id === undefined) throw new UserError(`it2 opened a pane, but its answer names none: ${said.trim().slice(0, 200) || "nothing"}`);
      column.push(id);
      await it2("session", "set-name", name, "-s", id);
      await it2("session", "run", startLine(script), "-s", id);
      // A split takes the focus, and what the person types.
      if (lead) await it2("session", "focus", lead);
      return id;
    },
    again: async (id, script) => void (await it2("session", "run", startLine(script), "-s", id)),
    async close(id) {
      const index = column.indexOf(id);
      if (index >= 0) column.splice(index, 1);
      // Its program has ended, so as a rule it is closed already.
      await runCommand("it2", ["session", "close", "-f", "-s", id], { env, timeoutMs: TIMEOUT_MS });
    },
  };
}

function refusal(said: string): string {
  const line = said.trim().split("\n", 1)[0] || "it failed without a word";
  const mend = /connect|API/i.test(line) ? " Switch it on in iTerm2: Settings, General, Magic, Enable Python API." : "";
  return `it2: ${line}.${mend} Or choose --backend tmux or process.`;
}
