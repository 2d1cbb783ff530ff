import { runCommand } from "../../platform/process.ts";
import { LIST_PANES, type Pane, readPanes, type TmuxCommand } from "./tmux-panes.ts";

/** Longer argument vectors are refused by tmux (16 kB); a sequence that would be is sent in parts. */
const MAX_ARGUMENT_LENGTH = 12_000;
const TIMEOUT_MS = 20_000;

/** The environment that a server started by us keeps and gives to every later pane: what a terminal needs, no keys. */
const SERVER_ENVIRONMENT =
  /^(PATH|HOME|SHELL|USER|LOGNAME|TERM|COLORTERM|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|TMUX_TMPDIR|XDG_.*|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|SSH_AUTH_SOCK|SSH_CONNECTION|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/;

export class TmuxError extends Error {
  override readonly name = "TmuxError";
  /** What the commands before the failing one printed. */
  readonly stdout: string;
  /** No server answers on the socket, so nothing of it lives. */
  readonly isServerGone: boolean;
  constructor(stderr: string, stdout: string) {
    super(`tmux: ${stderr.trim() || "it failed without a word"}`);
    this.stdout = stdout;
    this.isServerGone = /no server running|error connecting|server exited|lost server/.test(stderr);
  }
}

/** One tmux server, by its socket. Starting the tmux program is the whole cost of a call, so commands travel together. */
export class TmuxClient {
  /** Options in front of each command: `-L name`, `-S path`, `-f file`. */
  readonly socketArgs: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  #turn: Promise<void> = Promise.resolve();

  constructor(socketArgs: readonly string[], env: NodeJS.ProcessEnv) {
    this.socketArgs = socketArgs;
    this.env = Object.fromEntries(Object.entries(env).filter(([name]) => SERVER_ENVIRONMENT.test(name)));
  }

  /** Runs the commands in order and gives what they print; the first that fails ends it with a TmuxError. */
  async run(...commands: readonly TmuxCommand[]): Promise<string> {
    let printed = "";
    for (const part of parts(commands)) {
      const result = await runCommand("tmux", [...this.argv(), ...part], { env: this.env, timeoutMs: TIMEOUT_MS });
      printed += result.stdout;
      if (result.missing) throw new TmuxError("there is no tmux on PATH", printed);
      if (result.timedOut) throw new TmuxError(`no answer within ${TIMEOUT_MS} ms`, printed);
      if (result.exitCode !== 0) throw new TmuxError(result.stderr, printed);
    }
    return printed;
  }

  /** `-u`: names may be of any script, whatever the locale says. */
  argv(): readonly string[] {
    return ["-u", ...this.socketArgs];
  }

  /** What a person types behind `tmux` to reach this server. */
  address(): readonly string[] {
    return this.socketArgs.filter((word, index, all) => word !== "-f" && all[index - 1] !== "-f");
  }

  /** Every pane of the server; none when there is no server. */
  async panes(): Promise<Pane[]> {
    try {
      return readPanes(await this.run(LIST_PANES));
    } catch (error) {
      if (error instanceof TmuxError && error.isServerGone) return [];
      throw error;
    }
  }

  /** Every pane now, for several who ask at once in one call. */
  readonly look = this.together<undefined, Pane[]>(async (askers) => {
    const panes = await this.panes();
    return askers.map(() => panes);
  });

  /**
   * One run at a time, of this function and of all others made here: what a run has seen of the panes holds until it is through.
   * Requests that come meanwhile go together into the next run, which answers each with a result or an error.
   */
  together<Request, Result>(
    run: (requests: readonly Request[]) => Promise<readonly (Result | Error)[]>,
  ): (request: Request) => Promise<Result> {
    let waiting: { request: Request; done: (result: Result) => void; failed: (error: unknown) => void }[] = [];
    const runWaiting = async () => {
      const batch = waiting;
      waiting = [];
      if (batch.length === 0) return;
      try {
        const results = await run(batch.map((one) => one.request));
        for (const [index, { done, failed }] of batch.entries()) {
          const result = results[index];
          if (result === undefined || result instanceof Error) failed(result ?? new Error("tmux gave no answer."));
          else done(result);
        }
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    };
    return (request) =>
      new Promise((done, failed) => {
        waiting.push({ request, done, failed });
        this.#turn = this.#turn.then(runWaiting);
      });
  }
}

/** tmux ends a command at an argument that ends in `;`. */
function parts(commands: readonly TmuxCommand[]): string[][] {
  const all: string[][] = [];
  for (const command of commands) {
    const words = command.map((word) => word.replace(/;$/, "\\;"));
    const last = all.at(-1);
    if (last && length(last) + length(words) < MAX_ARGUMENT_LENGTH) last.push(";", ...words);
    else all.push(words);
  }
  return all;
}

function length(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
}
