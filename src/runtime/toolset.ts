import type { ToolSpec } from "../protocol/model.ts";
import type { MayShow, Tool } from "../protocol/tool.ts";
import type { BashOptions } from "../tools/bash/bash-options.ts";
import type { ShellState } from "../tools/bash/shell-state.ts";
import { type AskUser, askUserTool } from "../tools/builtin/ask-user.ts";
import { bashTool } from "../tools/builtin/bash.ts";
import { bashOutputTool } from "../tools/builtin/bash-output.ts";
import { editFileTool } from "../tools/builtin/edit-file.ts";
import { globTool } from "../tools/builtin/glob.ts";
import { grepTool } from "../tools/builtin/grep.ts";
import { readFileTool } from "../tools/builtin/read-file.ts";
import { taskStopTool } from "../tools/builtin/task-stop.ts";
import { webFetchTool } from "../tools/builtin/web-fetch.ts";
import { writeFileTool } from "../tools/builtin/write-file.ts";
import type { FileState } from "../tools/file-state.ts";
import type { WebOptions } from "../tools/web/fetch-for-model.ts";

export type WorkTools = {
  web: WebOptions;
  shell: ShellState;
  bash: BashOptions;
  askUser: AskUser;
  mayShow: MayShow;
  /** What this agent has read. */
  files: FileState;
  /** Ends what runs in the background and is no command. */
  stopOther?: ((id: string) => Promise<string | undefined>) | undefined;
  settings: { allowWrite?: boolean | undefined; allowBash?: boolean | undefined };
};

/** The tools of an agent that works on code, made for this agent: its own shell folder, and with `files` of its own. */
export function workTools({ web, shell, bash, files, askUser, mayShow, stopOther, settings }: WorkTools): Tool[] {
  return [
    readFileTool(files),
    ...(settings.allowWrite === false ? [] : [writeFileTool(files), editFileTool(files)]),
    globTool(mayShow),
    grepTool(mayShow),
    ...(settings.allowBash === false ? [] : [bashTool(shell, bash), bashOutputTool(shell)]),
    ...(settings.allowBash === false && !stopOther ? [] : [taskStopTool(shell, stopOther)]),
    webFetchTool(web),
    askUserTool(askUser),
  ];
}

/** What the model sees, in a stable order: a conversation sends it again byte for byte. */
export function toApiFormat(tools: readonly Tool[]): ToolSpec[] {
  return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
