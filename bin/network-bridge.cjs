// Runs inside the OS sandbox, beside a command: what the command sends to this port of the sandbox's own loopback goes through a
// Unix socket to the filter outside (src/safety/os-sandbox/network-filter.ts). Says a line on descriptor 3 once it listens, and closes that.
"use strict";
const { closeSync, writeSync } = require("node:fs");
const { connect, createServer } = require("node:net");

const [socketPath, port] = process.argv.slice(2);
const server = createServer({ allowHalfOpen: true }, (inside) => {
  const outside = connect({ path: socketPath, allowHalfOpen: true });
  inside.on("error", () => outside.destroy());
  outside.on("error", () => inside.destroy());
  inside.pipe(outside).pipe(inside);
});
server.listen(Number(port), "127.0.0.1", () => {
  writeSync(3, "listening\n");
  closeSync(3);
});
