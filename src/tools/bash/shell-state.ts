import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { CommandStarter } from "./command-starter.ts";
import type { Job } from "./job.ts";

/** State of one agent's shell: the folder that commands start in, and what runs in the background. */
export class ShellState {
  readonly jobs = new Map<string, Job>();
  /** What lets go of a command that a call waits for. */
  readonly foreground = new Set<() => void>();
  readonly #root: string;
  #cwd: string;
  #next: string | undefined;
  #note: string | undefined;
  #starter: Promise<CommandStarter> | undefined;

  constructor(cwd: string) {
    this.#root = cwd;
    this.#cwd = cwd;
  }

  get cwd(): string {
    return this.#cwd;
  }

  /** A command that began in `from` ended in `folder`; the next round begins there. Gives a note for the model when that is another one. */
  endedIn(folder: string, from: string): string | undefined {
    if (!existsSync(folder)) {
      this.#next = this.#nearest(folder);
      this.#note = `[the working folder ${folder} is gone: commands run in ${this.#next} now]`;
      return this.#note;
    }
    if (folder === from) return undefined;
    this.#next = folder;
    return `[working folder: ${folder}]`;
  }

  /** Calls of one answer do not see each other's cd: what they changed counts from the next round on. */
  settle(): void {
    this.#cwd = this.#next ?? this.#cwd;
    this.#next = undefined;
  }

  /** A folder that is there, with a note when it had to be another one. Undefined folder: not even the first one is left. */
  startFolder(): { folder: string | undefined; note: string | undefined } {
    const gone = this.#cwd;
    if (!existsSync(gone)) {
      this.#cwd = this.#nearest(gone);
      this.#note = `[the working folder ${gone} is gone: commands run in ${this.#cwd} now]`;
    }
    const note = this.#note;
    this.#note = undefined;
    return { folder: existsSync(this.#cwd) ? this.#cwd : undefined, note };
  }

  /** The commands that calls wait for run on as jobs, and the calls return. Gives their number. */
  toBackground(): number {
    const { size } = this.foreground;
    for (const letGo of [...this.foreground]) letGo();
    return size;
  }

  /** For the model: jobs that ended since it last heard of them. */
  news(): string | undefined {
    const ended = [...this.jobs.values()].flatMap((job) => job.takeNews() ?? []);
    return ended.length === 0 ? undefined : ended.join("\n");
  }

  /** False when there is no such job, or it has ended. */
  async stopJob(id: string): Promise<boolean> {
    const job = this.jobs.get(id);
    if (!job?.isRunning) return false;
    await job.stop();
    return true;
  }

  /** Loaded with the first command: a start up to the first request runs none. */
  starter(): Promise<CommandStarter> {
    this.#starter ??= import("./command-starter.ts").then(({ CommandStarter }) => new CommandStarter());
    return this.#starter;
  }

  /** Ends all background jobs, and whatever else commands left running. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.jobs.values()].map((job) => job.end()));
    await (await this.#starter)?.[Symbol.asyncDispose]();
  }

  /** Inside the folder that the agent began in; elsewhere that one. */
  #nearest(gone: string): string {
    let folder = gone;
    while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
    return folder === this.#root || folder.startsWith(`${this.#root}/`) ? folder : this.#root;
  }
}
