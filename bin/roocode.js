#!/usr/bin/env node
import { existsSync } from "node:fs";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`RooCode needs Node 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exit(2);
}
const entry = new URL("../dist/main.js", import.meta.url);
if (!existsSync(entry)) {
  process.stderr.write("RooCode is not built yet. In its folder run: npm ci && npm run build\n");
  process.exit(2);
}
// Node 22 and later keep compiled code beside the build; where that cannot be written, nothing changes.
if (major >= 22) {
  const { enableCompileCache } = await import("node:module");
  const { fileURLToPath } = await import("node:url");
  enableCompileCache?.(fileURLToPath(new URL(".compiled", entry)));
}
await import(entry.href);
