import { readFileSync, statSync } from "node:fs";
import { realOrUndefined } from "./protect.ts";

/** Unix sockets that listen now, wherever they lie: reading a file system only does not keep a program from talking to them. */
export function listeningSockets(): string[] {
  let table: string;
  try {
    table = readFileSync("/proc/net/unix", "utf8");
  } catch {
    // Not Linux.
    return [];
  }
  const paths = table.split("\n").flatMap((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? []);
  const real = paths.flatMap((path) => realOrUndefined(path) ?? []);
  return [...new Set(real)].filter(isSocket);
}

function isSocket(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() === true;
}
