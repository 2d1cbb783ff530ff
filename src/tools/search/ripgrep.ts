import { ownEnvironment } from "../../platform/own-programs.ts";

export type RipgrepEnd = { exitCode: number; stderr: string; isTimedOut: boolean };
export type RipgrepRun = {
  file: string;
  args: readonly string[];
  cwd: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Each part of the output up to `separator`, a line feed unless it is a NUL. */
  onPart(part: string): void;
  separator?: "\0";
};

/**
 * Which ripgrep to run: the one of @vscode/ripgrep, else `rg` on PATH, else none (then the walker serves).
 * `ROOCODE_RIPGREP=off` forces the walker.
 */
export async function findRipgrep(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  if (env.ROOCODE_RIPGREP === "off") return undefined;
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    return rgPath;
  } catch {
    // Left out of the installation, or no binary for this machine.
    const probe = { file: "rg", args: ["--version"], cwd: "/", timeoutMs: 5_000, onPart: () => undefined };
    return (await runRipgrep(probe).catch(() => undefined)) ? "rg" : undefined;
  }
}

/** Runs ripgrep to its end or to the limit of time; its output is handed on as it comes and never kept. */
export async function runRipgrep({ file, args, cwd, timeoutMs, signal, onPart, separator }: RipgrepRun): Promise<RipgrepEnd> {
  const { spawn } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    // No user configuration: RIPGREP_CONFIG_PATH could add --pre, which runs programs.
    const child = spawn(file, ["--no-config", ...args], {
      cwd,
      env: ownEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
      ...(signal ? { signal } : {}),
    });
    let stderr = "";
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      child.kill("SIGKILL");
    }, timeoutMs);
    const rest = splitAt(child.stdout, separator ?? "\n", onPart);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < 4_000) stderr += text;
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      rest.then(() => resolve({ exitCode: code ?? 0, stderr, isTimedOut }), reject);
    });
  });
}

async function splitAt(stream: NodeJS.ReadableStream, separator: string, onPart: (part: string) => void): Promise<void> {
  stream.setEncoding("utf8");
  let pieces: string[] = [];
  for await (const text of stream) {
    const [first = "", ...others] = String(text).split(separator);
    pieces.push(first);
    for (const next of others) {
      onPart(pieces.join(""));
      pieces = [next];
    }
  }
  const last = pieces.join("");
  if (last !== "") onPart(last);
}
