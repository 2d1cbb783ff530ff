import { speaksUtf8 } from "./interaction/locale.ts";
import { requireFolder } from "./interaction/start-folder.ts";

declare const ROOCODE_VERSION: string;

void main(process.argv.slice(2))
  .catch(async (error: unknown) => {
    const { reportError } = await import("./interaction/report-error.ts");
    return reportError(error, process.argv.includes("--debug"));
  })
  .then((code) => {
    process.exitCode = code;
  });

/** The first words decide what loads: most commands need yargs, a teammate's start must not pay for it. */
async function main(argv: string[]): Promise<number> {
  if (argv[0] === "--version" || argv[0] === "-v") {
    process.stdout.write(`${ROOCODE_VERSION}\n`);
    return 0;
  }
  if (!speaksUtf8(process.env)) (await import("./interaction/ascii-output.ts")).writeAscii([process.stdout, process.stderr]);
  if (argv[0] === "worker" && argv[1] === "--boot" && argv[2] !== undefined) {
    const { bootWorker } = await import("./interaction/commands/worker.ts");
    return bootWorker(argv[2]);
  }
  if (argv[0] === "team" && argv[1] === "--handover" && argv[2] !== undefined) {
    const { takeOver } = await import("./interaction/own-session.ts");
    return main(await takeOver(argv[2]));
  }
  requireFolder();
  const { readPlainPrint } = await import("./interaction/commands/plain-print.ts");
  const plain = readPlainPrint(argv);
  if (plain) {
    const { printCommand } = await import("./interaction/commands/print.ts");
    return printCommand(plain);
  }
  const { runCommandLine } = await import("./interaction/commands/cli.ts");
  return runCommandLine(argv, ROOCODE_VERSION);
}
