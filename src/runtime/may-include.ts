import { basename } from "node:path";
import { components, DISK, type Ground, isWithin, judgePath, real } from "../safety/path-sandbox.ts";
import { checkWriteNames } from "../safety/protected-paths.ts";
import type { Surroundings } from "./surroundings.ts";

const KEY_FILE = /\.(pem|key|p12|pfx|jks|keystore|kdbx)$|^id_(rsa|dsa|ecdsa|ed25519)/i;

/** Whether an instruction file may include this one: nothing that holds secrets, and nothing that no tool may write. */
export function mayInclude({ data, home, projectRoot }: Surroundings, root: string): (path: string) => boolean {
  const ground: Ground = { root, cwd: root, home, dataFolder: data.root, extraRoots: [projectRoot, data.root, home], files: DISK };
  return (path) => {
    const read = judgePath(path, "read", ground, true);
    const resolved = read.resolved ?? path;
    if (read.place !== "inside" || read.isSticky || [path, resolved].some((name) => KEY_FILE.test(basename(name)))) return false;
    if (judgePath(path, "write", ground, true).place === "inside") return true;
    // No tool writes the data folder, yet the person's own notes stand there.
    const isNote = isWithin(resolved, real(data.root, ground)) && /\.(md|txt)$/i.test(resolved);
    return isNote && ![path, resolved].some((name) => checkWriteNames(components(name)).isProtected);
  };
}
