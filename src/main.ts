declare const ROOCODE_VERSION: string;

if (process.argv[2] === "--version") process.stdout.write(`${ROOCODE_VERSION}\n`);
