import type { SlashCommand } from "./command.ts";
import { compactCommand } from "./compact.ts";
import { contextCommand } from "./context.ts";
import { costCommand } from "./cost.ts";
import { forgetCommand } from "./forget.ts";
import { hooksCommand } from "./hooks.ts";
import { jobsCommand } from "./jobs.ts";
import { memoryCommand } from "./memory.ts";
import { modeCommand } from "./mode.ts";
import { modelCommand } from "./model.ts";
import { permissionsCommand } from "./permissions.ts";
import { queueCommand } from "./queue.ts";
import { rememberCommand } from "./remember.ts";
import { renameCommand } from "./rename.ts";
import { rewindCommand } from "./rewind.ts";

const exit = (name: string): SlashCommand => ({ name, describe: "End the session; it can be gone on with", run: async () => "exit" });

const help: SlashCommand = {
  name: "help",
  describe: "This list",
  anyTime: true,
  async run(_argument, { print }) {
    print(SLASH_COMMANDS.map(({ name, argument, describe }) => `${`/${name} ${argument ?? ""}`.padEnd(34)}${describe}`).join("\n"));
    return undefined;
  },
};

const SLASH_COMMANDS: readonly SlashCommand[] = [
  compactCommand,
  contextCommand,
  costCommand,
  exit("exit"),
  forgetCommand,
  help,
  hooksCommand,
  jobsCommand,
  memoryCommand,
  modeCommand,
  modelCommand,
  permissionsCommand,
  queueCommand,
  exit("quit"),
  rememberCommand,
  renameCommand,
  rewindCommand,
];

/** Undefined for text that is no command: a path such as /etc/hosts, or a sentence. */
export function readSlash(line: string): { name: string; argument: string; command: SlashCommand | undefined } | undefined {
  const found = /^\/([a-z][a-z-]*)(?:\s+([\s\S]*))?$/.exec(line.trim());
  if (!found) return undefined;
  const [, name = "", argument = ""] = found;
  return { name, argument: argument.trim(), command: SLASH_COMMANDS.find((command) => command.name === name) };
}
