#!/usr/bin/env node
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`RooCode needs Node 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exit(2);
}
await import("../dist/main.js");
