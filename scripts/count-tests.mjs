// Prints the closing line of scripts/test from vitest's JSON report.
import { readFile } from "node:fs/promises";

const report = JSON.parse(await readFile(process.argv[2], "utf8"));
if (report.numPendingTests > 0)
  process.stdout.write(`${report.numPendingTests} left out, which need what is not here: tmux, bwrap, root, or Linux. Not in the count.\n`);
process.stdout.write(`${report.numPassedTests} passed, ${report.numFailedTests} failed\n`);
