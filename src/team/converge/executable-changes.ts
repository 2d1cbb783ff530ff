import { git } from "../../platform/git.ts";
import { isRecord } from "../../protocol/record.ts";

const NAMES = [
  ".gitattributes",
  ".gitmodules",
  ".gitlab-ci.yml",
  ".mcp.json",
  "ROOCODE.md",
  "CLAUDE.md",
  "AGENTS.md",
  ".envrc",
  ".npmrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  ".pre-commit-config.yaml",
  "lefthook.yml",
  "Makefile",
  "build.rs",
  "setup.py",
  "conftest.py",
];
const FOLDERS = [".github", ".husky", ".githooks", ".roocode", ".claude", ".agents", ".cargo", ".vscode", ".idea", ".devcontainer"];

/** What of the incoming changes can run, or instruct an agent, by being merged, built or opened. */
export async function executableChanges(
  repository: string,
  from: string,
  to: string,
  changes: ReadonlyMap<string, string>,
): Promise<string[]> {
  const found: string[] = [];
  for (const [path, status] of changes) {
    if (status === "D") continue;
    const folders = path.toLowerCase().split("/");
    const name = folders.pop() ?? "";
    if (folders.some((folder) => FOLDERS.includes(folder)) || NAMES.some((one) => one.toLowerCase() === name)) found.push(path);
    else if (name === "package.json" && (await scriptsOf(repository, from, path)) !== (await scriptsOf(repository, to, path))) {
      found.push(`${path} (scripts)`);
    }
  }
  return found;
}

async function scriptsOf(repository: string, commit: string, path: string): Promise<string> {
  const { stdout } = await git(repository, ["cat-file", "blob", `${commit}:${path}`]);
  try {
    const parsed: unknown = JSON.parse(stdout);
    return isRecord(parsed) && "scripts" in parsed ? JSON.stringify(parsed.scripts) : "";
  } catch {
    // No JSON (any more): whatever npm makes of it, it is a change.
    return stdout;
  }
}
