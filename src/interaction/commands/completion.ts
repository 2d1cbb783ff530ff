import { UserError } from "../../protocol/errors.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** Each asks the program itself with the words so far; where it knows nothing, the shell completes files. */
const SCRIPTS: Record<Shell, string> = {
  bash: `# roocode completion bash >> ~/.bashrc
_roocode() {
  local words
  words=$(SHELL=bash roocode --get-yargs-completions "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o bashdefault -o default -F _roocode roocode
`,
  zsh: `#compdef roocode
# roocode completion zsh > "\${fpath[1]}/_roocode"
_roocode() {
  local -a found
  found=(\${(f)"$(SHELL=zsh roocode --get-yargs-completions "\${(@)words[1,CURRENT]}" 2>/dev/null)"})
  (( \${#found} )) && _describe 'roocode' found || _files
}
compdef _roocode roocode
`,
  fish: `# roocode completion fish > ~/.config/fish/completions/roocode.fish
function __roocode
  SHELL=zsh roocode --get-yargs-completions (commandline -opc) (commandline -ct) 2>/dev/null | string replace -r '(?<!\\\\\\\\):' \\t | string replace -a '\\\\:' ':'
end
complete -c roocode -a '(__roocode)'
`,
};

/** Prints the script that makes a shell complete our commands, flags and names; of the person's own shell unless one is named. */
export function completionScript(wanted: string | undefined, env: NodeJS.ProcessEnv): string {
  const name = wanted ?? env.SHELL?.split("/").at(-1);
  const shell = SHELLS.find((one) => one === name);
  if (!shell) throw new UserError(`Name your shell: roocode completion ${SHELLS.join("|")}`);
  return SCRIPTS[shell];
}

/** Words behind the command so far that only the machine knows: names of teams, ids of sessions. Undefined: what the command line has. */
export async function knownNames(words: readonly string[]): Promise<string[] | undefined> {
  const [command, sub] = words;
  const before = words.at(-2);
  const isTeam = (command === "team" && words.length === 3 && TEAM_COMMANDS.has(sub ?? "")) || before === "--team";
  const isSession = (command === "sessions" && words.length === 3) || before === "--resume";
  if (!isTeam && !isSession) return undefined;
  const { surroundingsHere } = await import("../surroundings-here.ts");
  const { data, projectRoot } = await surroundingsHere();
  if (isTeam) return (await import("../../runtime/find-team.ts")).teamNames(data);
  const { readdir } = await import("node:fs/promises");
  // Without a session there is no folder.
  const files = await readdir(data.sessions(projectRoot)).catch(() => []);
  return files.flatMap((file) => (file.endsWith(".jsonl") ? [file.slice(0, -".jsonl".length)] : []));
}

const TEAM_COMMANDS = new Set(["status", "attach", "log", "send", "resume", "stop", "clean", "report", "watch", "doctor"]);
