import { join } from "node:path";
import { ToolInputError } from "../../protocol/errors.ts";
import { isRecord } from "../../protocol/record.ts";
import { errorResult, type Tool } from "../../protocol/tool.ts";
import type { BashOptions } from "../bash/bash-options.ts";
import type { ShellState } from "../bash/shell-state.ts";
import type { SkillToolDefinition } from "./tool-json.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
/** What the kernel takes for one variable. */
const MAX_INPUT_BYTES = 120_000;

/**
 * A tool of a skill: its command line runs as Bash runs one, judged by the same rules, in the same sandbox; it reads the call's input as
 * JSON from standard input, and what it prints is the result.
 */
export function skillTool(definition: SkillToolDefinition, folder: string, shell: ShellState, bash: BashOptions): Tool {
  const { name, description, inputSchema, command, timeoutMs = DEFAULT_TIMEOUT_MS } = definition;
  return {
    name,
    description,
    inputSchema,
    parse(input) {
      if (isRecord(input)) return input;
      throw new ToolInputError(`${name}: the input is no JSON object`);
    },
    access: () => ({ kind: "command", subject: command }),
    isConcurrencySafe: () => false,
    async run(input, context) {
      const { folder: cwd } = shell.startFolder();
      if (cwd === undefined) return errorResult(`The working folder ${shell.cwd} is gone.`);
      const json = JSON.stringify(input);
      if (Buffer.byteLength(json) > MAX_INPUT_BYTES) return errorResult(`The input has more than ${MAX_INPUT_BYTES} bytes.`);
      const { runInFront } = await import("../bash/run-in-front.ts");
      const outputPath = join(bash.outputFolder, `${context.callId.replace(/[^A-Za-z0-9_-]/g, "_")}.out`);
      const options = { ...bash, env: { ...bash.env, SKILL_DIR: folder, ROOCODE_TOOL_INPUT: json } };
      // A shell of its own: where the command goes to is not where the session works.
      const withInput = `( ${command}\n) <<<"$ROOCODE_TOOL_INPUT"`;
      return runInFront({ command: withInput, timeoutMs, folder: cwd, outputPath, isUnsandboxed: false }, shell, options, context);
    },
  };
}
