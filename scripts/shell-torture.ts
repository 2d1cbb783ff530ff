// What a shell must survive, through the Bash tool: time, growth of this process, what is left. Linux, as root (the bomb runs as nobody
// behind a limit of 3000 processes). Run by hand: npx tsx scripts/shell-torture.ts
import { chmodSync } from "node:fs";
import { resultText } from "../src/protocol/tool.ts";
import { testShell } from "../test/support/bash.ts";

const BOMB = `setpriv --reuid=65534 --clear-groups bash -c 'ulimit -u 3000; b() { b | b & }; b; sleep 60'`;
const CASES: readonly (readonly [name: string, command: string, timeoutMs: number])[] = [
  ["cat without input", "cat", 5_000],
  ["FIFO without a writer", "mkfifo p; cat p", 1_000],
  ["daemonising child, killed by timeout", "(setsid sleep 300 </dev/null >/dev/null 2>&1 3>&- &); sleep 300", 1_000],
  ["yes for 5 s", "yes", 5_000],
  ["1 GB of lines", "yes | head -c 1G", 60_000],
  ["1 GB without a newline", "head -c 1G /dev/zero | tr '\\0' x", 60_000],
  ["fork bomb", BOMB, 60_000],
];

async function main(): Promise<void> {
  console.log("case                                   seconds  peak MB over start  left  how it ended");
  for (const [name, command, timeout] of CASES) {
    await using shell = await testShell();
    chmodSync(shell.path, 0o755);
    await shell.run("true");
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 20);
    const started = performance.now();
    const text = resultText(await shell.run(command, { timeout }));
    clearInterval(watch);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const end = text.split("\n").at(-1)?.slice(0, 80) ?? "";
    console.log(
      `${name.padEnd(38)} ${seconds.padStart(7)} ${((peak - before) / 2 ** 20).toFixed(0).padStart(19)} ${String(shell.living().length).padStart(5)}  ${end}`,
    );
  }
}

void main();
