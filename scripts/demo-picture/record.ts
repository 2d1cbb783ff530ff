// Makes docs/demo.svg out of a real `roocode demo`, run in a tmux server of its own: npx tsx scripts/demo-picture/record.ts
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { exists } from "../../src/platform/files.ts";
import { runCommand } from "../../src/platform/process.ts";
import { picture } from "./svg.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname);
const SIZE = { columns: 122, rows: 34 };
/** What each screen shows; of each the last one that does. */
const WANTED = [/0 of 4 tasks done\s+● alice +busy/, /[123] of 4 tasks done/, /Conflict in the merge/, /tests pass on what main holds/];
const LONGEST_MS = 60_000;

const folder = await mkdtemp(join(tmpdir(), "roocode-picture-"));
const env = { PATH: process.env.PATH ?? "", HOME: join(folder, "home"), TMUX_TMPDIR: folder, LANG: "C.UTF-8", TERM: "xterm-256color" };
const tmux = (...args: string[]) => runCommand("tmux", ["-u", "-L", "picture", "-f", "/dev/null", ...args], { env });
try {
  await mkdir(env.HOME);
  // The demo opens a tmux session of its own inside; its status line would name this machine.
  await writeFile(join(env.HOME, ".tmux.conf"), "set -g status off\n");
  const command = `unset TMUX TMUX_PANE; "${process.execPath}" "${join(ROOT, "bin", "roocode.js")}" demo; touch done; sleep 60`;
  await tmux("new-session", "-d", "-x", String(SIZE.columns), "-y", String(SIZE.rows), "-c", folder, "sh", "-c", command);
  const screens = (await screensOf()).map(withoutMachine);
  await writeFile(
    join(ROOT, "docs", "demo.svg"),
    await picture(screens, SIZE, "roocode demo: a team of three, with scripted answers, no AI"),
  );
} finally {
  await tmux("kill-server");
  await runCommand("tmux", ["kill-server"], { env });
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function screensOf(): Promise<string[]> {
  const found: string[] = [];
  for (const end = Date.now() + LONGEST_MS; Date.now() < end; await sleep(100)) {
    const isOver = await exists(join(folder, "done"));
    const { stdout } = await tmux("capture-pane", "-e", "-p");
    const plain = stdout.replaceAll(/\x1b\[[\d;:]*m/g, "");
    for (const [index, wanted] of WANTED.entries()) if (wanted.test(plain)) found[index] = stdout;
    if (isOver) return WANTED.map((wanted, index) => found[index] ?? missing(wanted));
  }
  throw new Error(`The demo did not end in ${LONGEST_MS} ms.`);
}

function missing(wanted: RegExp): never {
  throw new Error(`No screen of the demo shows ${wanted}.`);
}

/** Paths lose what only this machine has; whatever else names it ends the script. */
function withoutMachine(screen: string): string {
  const text = screen.replaceAll(/\/\S*\/auth-sample/g, "auth-sample");
  for (const name of [tmpdir(), ROOT, hostname()]) if (text.includes(name)) throw new Error(`A screen shows "${name}":\n${text}`);
  return text;
}
