import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { processStart, runCommand } from "../../src/platform/process.ts";
import { eventually } from "./eventually.ts";
import { tempFolder } from "./temp.ts";

type Options = { config?: string; columns?: number; rows?: number };
export type TmuxServer = AsyncDisposable & {
  folder: string;
  socketArgs: readonly string[];
  /** The lead's environment: what tmux gave to its pane, and our own folder for sockets. */
  env: NodeJS.ProcessEnv;
  leadPane: string;
  leadWindow: string;
  /** What was typed into the lead's pane. */
  typed(): string;
  tmux(...args: readonly string[]): Promise<string>;
  lines(...args: readonly string[]): Promise<string[]>;
};

/** Options that reach a server nobody else has; it need not run yet. Gone with all it ran at the end of the block. */
export async function tmuxSocket(
  config = "",
): Promise<Pick<TmuxServer, "folder" | "socketArgs" | "env" | "tmux" | "lines"> & AsyncDisposable> {
  const folder = await tempFolder("roo-tmux");
  const file = join(folder.path, "tmux.conf");
  await writeFile(file, config);
  const name = `roocode-test-${randomBytes(4).toString("hex")}`;
  const { TMUX: _, TMUX_PANE: __, ...outer } = process.env;
  // A terminal that can show tmux, whatever runs the tests.
  const env = { ...outer, TERM: "xterm-256color", TMUX_TMPDIR: folder.path };
  const tmux = async (...args: readonly string[]) => {
    const result = await runCommand("tmux", ["-u", "-L", name, "-f", file, ...args], { env });
    if (result.exitCode !== 0) throw new Error(`tmux ${args.join(" ")}: ${result.stderr}`);
    return result.stdout.trimEnd();
  };
  return {
    folder: folder.path,
    socketArgs: ["-L", name, "-f", file],
    env,
    tmux,
    lines: async (...args) => (await tmux(...args)).split("\n").filter((line) => line !== ""),
    async [Symbol.asyncDispose]() {
      const pid = await tmux("display-message", "-p", "#{pid}").catch(() => undefined);
      await tmux("kill-server").catch(() => undefined);
      if (pid) await eventually(() => processStart(Number(pid)) === undefined);
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A private server with a lead's pane, alone in its window, that keeps what is typed into it. */
export async function tmuxServer({ config = "", columns = 240, rows = 67 }: Options = {}): Promise<TmuxServer> {
  const socket = await tmuxSocket(config);
  const typed = join(socket.folder, "typed");
  const lead = ["/bin/sh", "-c", 'stty raw -echo; exec cat > "$1"', "lead", typed];
  const printed = await socket.tmux(
    ...["new-session", "-d", "-P", "-F", "#{pane_id} #{window_id} #{socket_path},#{pid},#{session_id}", "-s", "user"],
    ...["-x", String(columns), "-y", String(rows), "-c", "/", ...lead],
  );
  const [leadPane = "", leadWindow = "", address = ""] = printed.split(" ");
  return {
    ...socket,
    leadPane,
    leadWindow,
    env: { ...socket.env, TMUX: address.replace("$", ""), TMUX_PANE: leadPane },
    typed: () => {
      try {
        return readFileSync(typed, "utf8");
      } catch {
        // The lead's shell has not opened it yet.
        return "";
      }
    },
  };
}
