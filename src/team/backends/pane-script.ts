import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readTextOrUndefined, writeAtomic } from "../../platform/files.ts";

/**
 * A program in a pane of a terminal that tells nothing of its end: a script in the pane notes its pid, what it wrote to standard error
 * and its exit status, in a folder of its own.
 */
export class PaneScript {
  readonly path: string;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.path = join(folder, "start.sh");
  }

  static async write(folder: string, cwd: string, command: readonly string[]): Promise<PaneScript> {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const script = new PaneScript(folder);
    const { pid, errors, exit } = script.#files;
    // Read as a whole before it runs, so that the file may go away meanwhile.
    const lines = [
      "{",
      `cd ${quoted(cwd)} || exit 1`,
      `echo $$ > ${quoted(pid)}`,
      `${command.map(quoted).join(" ")} 2> ${quoted(errors)}`,
      "code=$?",
      `cat ${quoted(errors)} >&2`,
      `{ echo $code > ${quoted(exit)}; } 2> /dev/null`,
      "exit $code",
      "}",
    ];
    await writeAtomic(script.path, `${lines.join("\n")}\n`, { mode: 0o600 });
    return script;
  }

  /** The one that was written there before. */
  static in(folder: string): PaneScript {
    return new PaneScript(folder);
  }

  /** Of the shell that runs it; undefined before it has begun. */
  async pid(): Promise<number | undefined> {
    return numberIn(this.#files.pid);
  }

  async exitStatus(): Promise<number | undefined> {
    return numberIn(this.#files.exit);
  }

  /** For the one who waits that the program reports ready. */
  async howItEnded(): Promise<string | undefined> {
    const status = await this.exitStatus();
    if (status === undefined) return undefined;
    const said = ((await readTextOrUndefined(this.#files.errors)) ?? "").trimEnd().split("\n").slice(-10).join("\n");
    return `it ended with exit status ${status}${said === "" ? " and wrote nothing" : `. Its last lines:\n${said}`}`;
  }

  get #files() {
    return { pid: join(this.#folder, "pid"), errors: join(this.#folder, "stderr"), exit: join(this.#folder, "exit") };
  }
}

/** For sh. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

async function numberIn(path: string): Promise<number | undefined> {
  const text = (await readTextOrUndefined(path))?.trim();
  return text && /^\d+$/.test(text) ? Number(text) : undefined;
}
