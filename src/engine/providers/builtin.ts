import type http from "node:http";
import type https from "node:https";

/**
 * node:http and node:https without an import: from Node 22 on that reads every export of theirs, WebSocket among them, and so
 * loads Node's whole fetch, which costs more than either SDK.
 */
export function builtin<Name extends "node:http" | "node:https">(name: Name): Name extends "node:http" ? typeof http : typeof https;
export function builtin(name: "node:http" | "node:https"): typeof http | typeof https {
  return name === "node:http" ? process.getBuiltinModule("node:http") : process.getBuiltinModule("node:https");
}
