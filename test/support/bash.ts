import { join } from "node:path";
import { commandEnvironment } from "../../src/platform/command-environment.ts";
import { processesWithEnvironment } from "../../src/platform/process-tree.ts";
import type { ToolResult } from "../../src/protocol/tool.ts";
import { secretMasker } from "../../src/safety/secrets.ts";
import type { BashOptions } from "../../src/tools/bash/bash-options.ts";
import { ShellState } from "../../src/tools/bash/shell-state.ts";
import { bashTool } from "../../src/tools/builtin/bash.ts";
import { bashOutputTool } from "../../src/tools/builtin/bash-output.ts";
import { taskStopTool } from "../../src/tools/builtin/task-stop.ts";
import { tempFolder } from "./temp.ts";

/** The shell of an agent in a folder of its own; each run is a round. */
export async function testShell(progress: (text: string) => void = () => undefined, more: Partial<BashOptions> = {}) {
  const folder = await tempFolder();
  const state = new ShellState(folder.path);
  // Carried by all that runs here, whatever becomes of it.
  const env = { ...commandEnvironment(process.env), TEST_SHELL: folder.path };
  const tools = {
    Bash: bashTool(state, { outputFolder: join(folder.path, "out"), env, secretMasker, ...more }),
    BashOutput: bashOutputTool(state),
    TaskStop: taskStopTool(state),
  };
  let number = 0;
  const call = (name: keyof typeof tools, input: object, signal = new AbortController().signal): Promise<ToolResult> => {
    number += 1;
    const context = { cwd: folder.path, callId: `c${number}`, signal, progress };
    return tools[name].run(tools[name].parse(input), context);
  };
  return {
    path: folder.path,
    state,
    call,
    run: (command: string, more: object = {}, signal?: AbortSignal) =>
      call("Bash", { command, ...more }, signal).finally(() => state.settle()),
    /** Pids of all that was started here and still runs. */
    living: () => processesWithEnvironment("TEST_SHELL", folder.path),
    async [Symbol.asyncDispose]() {
      await state[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
