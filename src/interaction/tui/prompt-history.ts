import { dirname, join } from "node:path";
import { appendLine, readTextOrUndefined, writeAtomic } from "../../platform/files.ts";

const KEPT = 500;

/** What the person typed in this project, across sessions: a JSON string a line, the newest last. */
export class PromptHistory {
  readonly #path: string;
  readonly #onProblem: (text: string) => void;

  /** `sessions`: the folder of the project's sessions; the history stands beside it. */
  constructor(sessions: string, onProblem: (text: string) => void) {
    this.#path = join(dirname(sessions), "history.jsonl");
    this.#onProblem = onProblem;
  }

  /** Oldest first. A line that can't be read is left out; a file that can't is told once, and there is no history. */
  async read(): Promise<string[]> {
    try {
      const lines = ((await readTextOrUndefined(this.#path)) ?? "").split("\n").filter((line) => line !== "");
      const newest = lines.slice(-KEPT);
      if (lines.length > 2 * KEPT) await writeAtomic(this.#path, `${newest.join("\n")}\n`);
      return newest.flatMap(textOf);
    } catch (error) {
      this.#tell(error);
      return [];
    }
  }

  add(text: string): void {
    try {
      appendLine(this.#path, text);
    } catch (error) {
      this.#tell(error);
    }
  }

  #tell(error: unknown): void {
    this.#onProblem(`The history of prompts: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function textOf(line: string): string[] {
  try {
    const text: unknown = JSON.parse(line);
    return typeof text === "string" ? [text] : [];
  } catch {
    // Half a line of a process that was killed.
    return [];
  }
}
