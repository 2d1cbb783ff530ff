import { escapeSystemTags } from "../../protocol/system-tags.ts";
import { watchCrowd } from "./crowd.ts";
import { exitWords } from "./exit-words.ts";
import type { RunningCommand } from "./start-command.ts";

const NEWS_CHARACTERS = 1_000;

/** A command that nobody waits for: its output is looked at on demand, its end is told. */
export class Job {
  readonly id: string;
  readonly command: string;
  readonly outputPath: string;
  readonly #running: RunningCommand;
  readonly #startedAt = performance.now();
  #endedAt: number | undefined;
  /** How it ended, once it has. */
  exit: string | undefined;
  #isTold = false;
  #isStopped = false;
  readonly over: Promise<void>;

  /** `isLeft`: its shell has ended, what it started goes on. */
  constructor(id: string, command: string, running: RunningCommand, isLeft = false) {
    this.id = id;
    this.command = command;
    this.#running = running;
    this.outputPath = running.output.keepInFile();
    running.isJob = true;
    this.over = this.#untilOver(isLeft);
  }

  get isRunning(): boolean {
    return this.exit === undefined;
  }

  get pid(): number {
    return this.#running.pid;
  }

  get seconds(): number {
    return Math.round(((this.#endedAt ?? performance.now()) - this.#startedAt) / 1000);
  }

  /** `running for 3 s`, `exit code 1, after 3 s`. */
  get state(): string {
    return this.exit === undefined ? `running for ${this.seconds} s` : `${this.exit}, after ${this.seconds} s`;
  }

  /** What it printed since the last look; who sees its end need not be told of it. */
  look(): string {
    if (!this.isRunning) this.#isTold = true;
    return this.#running.output.takeNew();
  }

  lastText(characters: number): string {
    return this.#running.output.lastText(characters);
  }

  takeNews(): string | undefined {
    if (this.isRunning || this.#isTold) return undefined;
    this.#isTold = true;
    const [command, tail] = [this.command.slice(0, 200), this.lastText(NEWS_CHARACTERS).trim()].map(escapeSystemTags);
    return `<task-notification task="${this.id}" status="ended">\n${command}\n${this.state}. Its last output:\n${tail || "(none)"}\n</task-notification>`;
  }

  /** On somebody's word, who knows it then. */
  async stop(): Promise<void> {
    this.#isTold = true;
    await this.end();
  }

  async end(graceMs?: number): Promise<void> {
    if (!this.isRunning) return;
    this.#isStopped = true;
    await this.#running.stop(graceMs);
    await this.#running.drain();
    this.#running.release();
    await this.over;
  }

  async #untilOver(isLeft: boolean): Promise<void> {
    using _watch = watchCrowd(this.#running, () => void this.end(0));
    const end = await this.#running.ended;
    if (isLeft || !(await this.#running.drain())) await this.#running.closed;
    const words = isLeft ? "ended" : (exitWords(this.command, end)?.words ?? "exit code 0");
    this.exit = this.#isStopped ? "stopped" : words;
    this.#endedAt = performance.now();
    this.#running.release();
    this.#running.output.finish();
  }
}
