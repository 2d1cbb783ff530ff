import { randomBytes } from "node:crypto";
import { stopTree } from "../../platform/process-tree.ts";
import type { BashOptions } from "./bash-options.ts";
import { Pipes } from "./pipes.ts";
import { ShellOutput } from "./shell-output.ts";
import { type RunningCommand, startCommand } from "./start-command.ts";
import { Watchdog } from "./watchdog.ts";

/** Starts the commands of one agent, each marked as its own and as one of them, and ends at last what any of them left. */
export class CommandStarter implements AsyncDisposable {
  readonly #id = randomBytes(8).toString("hex");
  readonly #pipes = new Pipes();
  readonly #watchdog = new Watchdog(`ROOCODE_COMMANDS=${this.#id}`);
  #count = 0;

  async start(
    { outputPath, ...call }: { command: string; cwd: string; outputPath: string; isUnsandboxed: boolean },
    options: BashOptions,
    onText?: (text: string) => void,
  ): Promise<RunningCommand> {
    this.#count += 1;
    const output = new ShellOutput({ path: outputPath, mask: options.secretMasker?.(), onText });
    return startCommand({
      ...call,
      marks: { ROOCODE_COMMANDS: this.#id, ROOCODE_COMMAND: `${this.#id}.${this.#count}` },
      options,
      output,
      pipe: await this.#pipes.take(),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pipes.close();
    await stopTree(undefined, undefined, `ROOCODE_COMMANDS=${this.#id}`);
    this.#watchdog.end();
  }
}
