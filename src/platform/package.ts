import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The package's own folder, from the sources as well as from the bundle: where `agents/`, `skills/` and `bin/` lie. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "bin", "roocode.js"))) {
    if (dirname(folder) === folder) throw new Error("RooCode's own folder was not found.");
    folder = dirname(folder);
  }
  return folder;
}

export function packageVersion(): string {
  const content: unknown = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
  return typeof content === "object" && content !== null && "version" in content ? String(content.version) : "";
}
