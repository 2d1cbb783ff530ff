#!/usr/bin/env node
import { existsSync } from "node:fs";
import module, { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

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
const require = createRequire(import.meta.url);
const dist = fileURLToPath(new URL(".", entry));
// Compiled code is kept beside the build; where that cannot be written, nothing changes.
if (major >= 22) module.enableCompileCache(`${dist}.compiled`);
else require("./compile-cache.cjs").keepCompiled(dist.slice(0, -1));
require(fileURLToPath(entry));
