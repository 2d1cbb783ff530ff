export type RipgrepResult = { exitCode: number; stdout: string; stderr: string; truncated: boolean };

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
    return (await runRipgrep("rg", ["--version"], "/", 1_000).catch(() => undefined)) ? "rg" : undefined;
  }
}

/** Runs ripgrep with bounded output; what comes after `maxCharacters` is dropped and the process ended. */
export async function runRipgrep(
  file: string,
  args: readonly string[],
  cwd: string,
  maxCharacters: number,
  signal?: AbortSignal,
): Promise<RipgrepResult> {
  const { spawn } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    // No user configuration: RIPGREP_CONFIG_PATH could add --pre, which runs programs.
    const child = spawn(file, ["--no-config", ...args], { cwd, stdio: ["ignore", "pipe", "pipe"], ...(signal ? { signal } : {}) });
    let stdout = "";
    let stderr = "";
    let truncated = false;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (truncated) return;
      stdout += text;
      if (stdout.length > maxCharacters) {
        truncated = true;
        child.kill();
      }
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < 4_000) stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ exitCode: code ?? 0, stdout, stderr, truncated }));
  });
}
