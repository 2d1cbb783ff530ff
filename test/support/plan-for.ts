import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { PlanInput } from "../../src/interaction/demo/plan.ts";
import { gitText } from "../../src/platform/git.ts";

const NAMES = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi"];
/** How a remark is written in a file of this kind. */
const REMARK: Record<string, (text: string) => string> = {
  ...Object.fromEntries([".js", ".mjs", ".cjs", ".ts", ".go", ".rs", ".java", ".c"].map((one) => [one, (text: string) => `// ${text}`])),
  ...Object.fromEntries([".py", ".sh", ".rb", ".yml", ".yaml", ".toml"].map((one) => [one, (text: string) => `# ${text}`])),
  ".md": (text) => text,
  ".txt": (text) => text,
};
const MAX_CHARACTERS = 20_000;

/**
 * A plan that works on a repository nobody prepared: every teammate adds a remark at the end of a file of its own, the last task
 * runs the check. With more teammates than files, neighbours share one and their branches conflict.
 */
export async function planFor(repo: string, teammates: number, check?: string): Promise<PlanInput> {
  const endings = await fileEndings(repo);
  if (endings.length === 0) throw new Error(`${repo} has no text file that a plan could edit.`);
  const names = NAMES.slice(0, teammates);
  const edits = names.map((name, index) => {
    const { file, end } = endings[index % endings.length] ?? { file: "", end: "" };
    const remark = REMARK[extname(file)]?.(`Looked through by ${name}.`) ?? "";
    return { key: name, subject: `${name} looks through ${file}`, teammate: name, edits: [{ file, old: end, new: `${end}\n${remark}` }] };
  });
  const verify = { key: "verify", subject: "The whole is checked", teammate: names[0] ?? "alice", blockedBy: names };
  return {
    teammates: names.map((name) => ({ name, prompt: `${name}: take the tasks with your name from the list and do them.` })),
    tasks: [...edits, { ...verify, commands: [check ?? "git status --short"] }],
  };
}

/** Files with the shortest run of last lines that stands only once in them. */
async function fileEndings(repo: string): Promise<{ file: string; end: string }[]> {
  const names = (await gitText(repo, ["ls-files", "-z"])).split("\0").filter((name) => name !== "" && extname(name) in REMARK);
  const found = await Promise.all(
    names.slice(0, 100).map(async (file) => {
      const text = await readFile(join(repo, file), "utf8");
      const lines = text.replace(/\s+$/, "").split(/\r?\n/);
      if (text.length > MAX_CHARACTERS || text.includes("\r") || lines.length > 1_000) return [];
      for (let count = 1; count <= Math.min(20, lines.length); count += 1) {
        const end = lines.slice(-count).join("\n");
        if (end.trim() !== "" && text.split(end).length === 2) return [{ file, end }];
      }
      return [];
    }),
  );
  return found.flat();
}
