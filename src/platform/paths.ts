import { createHash } from "node:crypto";
import { basename, join } from "node:path";

/** The data folder and what lies in it (spec.md, section 9). All paths are absolute. */
export type DataPaths = ReturnType<typeof dataPaths>;

export function dataPaths(home: string, roocodeHome?: string) {
  const root = roocodeHome ?? join(home, ".roocode");
  return {
    root,
    config: join(root, "config.yaml"),
    instructions: join(root, "ROOCODE.md"),
    memory: join(root, "memory"),
    log: join(root, "log"),
    audit: join(root, "log", "audit.jsonl"),
    trust: join(root, "trust.json"),
    mcpAuth: join(root, "mcp-auth.json"),
    teams: join(root, "teams"),
    doneTeams: join(root, "teams", ".done"),
    worktrees: join(root, "worktrees"),
    ports: join(root, "ports.json"),
    team: (name: string) => join(root, "teams", name),
    project: (projectRoot: string) => join(root, "projects", folderName(projectRoot)),
    sessions: (projectRoot: string) => join(root, "projects", folderName(projectRoot), "sessions"),
    teamWorktrees: (projectRoot: string, team: string) => join(root, "worktrees", folderName(projectRoot), team),
  };
}

/** Settings of a project, lowest first; `root` is the primary checkout. */
export function projectPaths(root: string) {
  return {
    config: join(root, ".roocode", "config.yaml"),
    localConfig: join(root, ".roocode", "config.local.yaml"),
    memory: join(root, ".roocode", "memory"),
    worktreeInclude: join(root, ".roocode", "worktree-include"),
    mcp: join(root, ".mcp.json"),
  };
}

/** `<name>-<hash8>`: readable, and two projects of the same name do not meet. */
function folderName(path: string): string {
  const name =
    basename(path)
      .replace(/[^\p{L}\p{N}._-]+/gu, "-")
      .slice(0, 40) || "root";
  return `${name}-${createHash("sha256").update(path).digest("hex").slice(0, 8)}`;
}
