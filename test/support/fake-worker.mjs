// A worker that only reports what it was given: node fake-worker.mjs READY_FILE ... Whatever is typed into its pane is added to READY_FILE.typed.
import { appendFileSync, renameSync, writeFileSync } from "node:fs";

const [ready, ...rest] = process.argv.slice(2);
const report = { pid: process.pid, cwd: process.cwd(), argv: rest, pane: process.env.TMUX_PANE, term: process.env.TERM };
writeFileSync(`${ready}.tmp`, JSON.stringify(report));
renameSync(`${ready}.tmp`, ready);
process.stdin.on("data", (data) => appendFileSync(`${ready}.typed`, data));
console.log("ready");
setInterval(() => {}, 60_000);
