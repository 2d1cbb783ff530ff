// A compile cache for Node 20, which has none of its own: V8's compiled code of the files in dist/, kept in one file beside them.
// It saves a fifth of the CPU of a start (scripts/bench).
"use strict";
const { createHash } = require("node:crypto");
const { mkdirSync, openSync, readSync, renameSync, writeFileSync } = require("node:fs");
const Module = require("node:module");
const { dirname, join, sep } = require("node:path");
const v8 = require("node:v8");
const vm = require("node:vm");

/** Compiles the CommonJS files of `folder` with the code that an earlier process left, and leaves what was missing. */
exports.keepCompiled = (folder) => {
  // The tag stands for V8's version, its flags and the processor.
  const path = join(folder, ".compiled", `v8-${v8.cachedDataVersionTag()}`);
  const kept = openKept(path);
  const made = new Map();
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, filename) {
    if (!filename.startsWith(folder + sep)) return compile.call(this, content, filename);
    const key = sha(content);
    const script = new vm.Script(Module.wrap(content), {
      filename,
      cachedData: kept.read(key),
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    if (script.cachedDataRejected !== false) made.set(key, script);
    const require = (id) => this.require(id);
    return script.runInThisContext().call(this.exports, this.exports, require, this, filename, dirname(filename));
  };
  process.once("exit", () => {
    if (made.size > 0) save(path, kept, made);
  });
};

/** The file: length of the index in 4 bytes; the index, [key, bytes, hash of them] for each; the code. */
function openKept(path) {
  const places = new Map();
  try {
    const file = openSync(path, "r");
    const [length] = new Uint32Array(readAt(file, 0, 4).buffer);
    let at = 4 + length;
    for (const [key, size, hash] of JSON.parse(readAt(file, 4, length).toString())) {
      places.set(key, { at, size, hash });
      at += size;
    }
    return { places, read: (key) => readCode(file, places.get(key)) };
  } catch {
    // Not there yet, or damaged: then it is made anew.
    places.clear();
    return { places, read: () => undefined };
  }
}

/** V8 trusts what it is given, so that a damaged file must be found here. */
function readCode(file, place) {
  try {
    const code = place && readAt(file, place.at, place.size);
    return code && sha(code) === place.hash ? code : undefined;
  } catch {
    // Cut short: that file is compiled again.
    return undefined;
  }
}

function readAt(file, position, size) {
  const bytes = Buffer.from(new ArrayBuffer(size));
  if (readSync(file, bytes, 0, size, position) !== size) throw new Error("cut short");
  return bytes;
}

function save(path, kept, made) {
  try {
    const parts = [...kept.places.keys()].filter((key) => !made.has(key)).map((key) => [key, kept.read(key)]);
    for (const [key, script] of made) parts.push([key, script.createCachedData()]);
    const whole = parts.filter(([, code]) => code !== undefined);
    const index = Buffer.from(JSON.stringify(whole.map(([key, code]) => [key, code.length, sha(code)])));
    const length = Buffer.from(new Uint32Array([index.length]).buffer);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.${process.pid}`, Buffer.concat([length, index, ...whole.map(([, code]) => code)]));
    renameSync(`${path}.${process.pid}`, path);
  } catch {
    // A folder of somebody else, a full disk: the next start compiles again.
  }
}

function sha(data) {
  return createHash("sha1").update(data).digest("base64");
}
