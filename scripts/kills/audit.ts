import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { exists } from "../../src/platform/files.ts";
import { git, gitText } from "../../src/platform/git.ts";
import { commandLine } from "../../src/platform/process-tree.ts";
import { sweepTempFolders } from "../../src/platform/temp-folder.ts";
import type { SessionEntry } from "../../src/protocol/session.ts";
import type { TestHome } from "../../test/support/home.ts";

const MARK = /MARK-[a-z]+-[a-z]+/g;
const GRACE_MS = 6_000;

/** What a run says of itself in its last line, where it came so far. */
export type Report = { exit_code: number; merged: string[]; unmerged: { name: string; branch: string; reason: string }[]; result: string };

/** What is wrong with the world after a team's end, in sentences. Nothing of it may be there, whatever was killed when. */
export async function audit(home: TestHome, code: number | null, report: Report | undefined, scratch: string): Promise<string[]> {
  const faults: string[] = [];
  const { repo } = home;
  const fsck = await git(repo, ["fsck", "--strict", "--no-dangling"]);
  if (fsck.exitCode !== 0 || /error|missing|corrupt/.test(fsck.stderr)) faults.push(`git fsck: ${fsck.stdout}${fsck.stderr}`.trim());
  const dirty = await gitText(repo, ["status", "--porcelain"]);
  if (dirty !== "") faults.push(`the user's checkout is not clean: ${dirty.replaceAll("\n", "; ")}`);
  const branch = await gitText(repo, ["symbolic-ref", "--short", "HEAD"]);
  if (branch !== "main") faults.push(`the user's checkout is on ${branch}`);
  if (await exists(join(repo, ".git", "MERGE_HEAD"))) faults.push("a merge is under way in the user's checkout");

  const inBase = await marksIn(repo, "main");
  const elsewhere = await marksElsewhere(home);
  const made = await editsMade(home);
  for (const mark of made) {
    if (inBase.has(mark)) continue;
    const [, owner = ""] = mark.split("-");
    if (!elsewhere.has(mark)) faults.push(`lost: ${mark} is nowhere`);
    if (code === 0) faults.push(`exit code 0, but ${mark} is not on main`);
    else if (report && !report.unmerged.some((one) => one.name === owner) && !report.result.includes(owner))
      faults.push(`${mark} is not on main, and ${owner} is not named`);
  }
  const base = await gitText(repo, ["grep", "-l", "-e", "^<<<<<<< ", "-e", "^>>>>>>> ", "main"]).catch(() => "");
  if (base !== "") faults.push(`conflict markers on main: ${base}`);
  if (code === 0) faults.push(...(await untidy(home)));

  const left = await processesLeft(dirname(home.home));
  if (left.length > 0) faults.push(`processes left: ${left.join(" | ")}`);
  // Those of what was killed go with the next start.
  sweepTempFolders(scratch);
  const files = await readdir(scratch);
  if (files.length > 0) faults.push(`left in the folder for temporary files: ${files.join(", ")}`);
  return faults;
}

/** Marks of all changes that a tool reported as done, in the transcripts of the members. */
async function editsMade(home: TestHome): Promise<Set<string>> {
  const teams = join(home.data, "teams");
  const names = await readdir(teams, { recursive: true }).catch(() => []);
  const made = new Set<string>();
  for (const name of names.filter((one) => /sessions\/[^/]+\.jsonl$/.test(one))) {
    const called = new Map<string, string>();
    for (const entry of await entriesOf(join(teams, name))) {
      if (entry.type === "message" && entry.message.role === "assistant")
        for (const block of entry.message.content)
          if (block.type === "tool_use" && ["WriteFile", "EditFile", "Bash"].includes(block.name))
            called.set(block.id, JSON.stringify(block.input));
      if (entry.type === "tool_result" && !entry.result.isError)
        for (const mark of called.get(entry.result.toolUseId)?.match(MARK) ?? []) made.add(mark);
    }
  }
  return made;
}

async function entriesOf(path: string): Promise<SessionEntry[]> {
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  return lines.flatMap((line): SessionEntry[] => {
    try {
      return [JSON.parse(line)];
    } catch {
      // The last line of a killed process.
      return [];
    }
  });
}

async function marksIn(repo: string, commit: string): Promise<Set<string>> {
  const found = await git(repo, ["grep", "-h", "-o", "-E", MARK.source, commit]);
  return new Set(found.stdout.match(MARK) ?? []);
}

/** On any other ref, or in a worktree. */
async function marksElsewhere({ repo, data }: TestHome): Promise<Set<string>> {
  const marks = new Set<string>();
  const add = (found: Iterable<string>) => {
    for (const mark of found) marks.add(mark);
  };
  const refs = await gitText(repo, ["for-each-ref", "--format=%(refname)"]);
  for (const ref of refs.split("\n").filter((one) => one !== "refs/heads/main")) add(await marksIn(repo, ref));
  const worktrees = join(data, "worktrees");
  for (const name of await readdir(worktrees, { recursive: true }).catch(() => [])) {
    if (!name.endsWith(".txt")) continue;
    add((await readFile(join(worktrees, name), "utf8").catch(() => "")).match(MARK) ?? []);
  }
  return marks;
}

/** After a whole success nothing of the team is in the repository, nor its working folders. */
async function untidy({ repo, data }: TestHome): Promise<string[]> {
  const branches = await gitText(repo, ["branch", "--format=%(refname:short)"]);
  const worktrees = (await gitText(repo, ["worktree", "list"])).split("\n").slice(1);
  const folders = (await readdir(join(data, "teams")).catch(() => [])).filter((name) => !name.startsWith("."));
  const locks = (await readdir(join(repo, ".git"), { recursive: true })).filter((name) => name.endsWith(".lock"));
  return [
    ...(branches === "main" ? [] : [`branches left: ${branches.replaceAll("\n", ", ")}`]),
    ...(worktrees.length === 0 ? [] : [`worktrees left: ${worktrees.join("; ")}`]),
    ...(folders.length === 0 ? [] : [`team folders left: ${folders.join(", ")}`]),
    ...(locks.length === 0 ? [] : [`locks left in .git: ${locks.join(", ")}`]),
  ];
}

async function processesLeft(folder: string): Promise<string[]> {
  const until = Date.now() + GRACE_MS;
  for (;;) {
    const left = await processesIn(folder);
    if (left.length === 0 || Date.now() > until) return left.map((pid) => `${pid} ${commandLine(pid).slice(0, 120)}`);
    await sleep(50);
  }
}

/** Processes whose environment or command line names the folder. */
export async function processesIn(folder: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [environment, line, stat] = await Promise.all(
        ["environ", "cmdline", "stat"].map((name) => readFile(`/proc/${pid}/${name}`, "latin1").catch(() => "")),
      );
      return !/\) Z /.test(stat ?? "") && `${environment}\0${line}`.includes(folder) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}
