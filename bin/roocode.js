#!/usr/bin/env node
// CommonJS (package.json beside it): Node's loader of ES modules would cost a tenth of a start.
"use strict";
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`RooCode needs Node 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exit(2);
}
const dist = join(__dirname, "..", "dist");
const entry = join(dist, "main.js");
if (!existsSync(entry)) {
  process.stderr.write("RooCode is not built yet. In its folder run: npm ci && npm run build\n");
  process.exit(2);
}
// Compiled code is kept beside the build; where that cannot be written, nothing changes.
if (major >= 22) require("node:module").enableCompileCache(join(dist, ".compiled"));
else require("./compile-cache.cjs").keepCompiled(dist);
require(entry);
