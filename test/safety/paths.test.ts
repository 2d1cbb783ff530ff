import { execFile } from "node:child_process";
import { link, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { decide } from "../../src/safety/decide.ts";
import { DISK } from "../../src/safety/path-sandbox.ts";
import { ruleSet } from "../../src/safety/rules.ts";
import { accessIn } from "../support/access.ts";
import { tempFolder } from "../support/temp.ts";

const run = promisify(execFile);

type Operation = { op: "dir" | "file" | "symlink" | "hardlink" | "fifo" | "remove"; path: string; text?: string; to?: string };
type Entry = {
  id: string;
  setup: Operation[];
  root: string;
  extra: string[];
  cwd: string;
  tool: string;
  path: string;
  pattern?: string;
  expect: "inside" | "outside" | "deny-protected";
  sticky?: boolean;
  platform?: "linux" | "posix" | "win32";
  race?: { afterCheck: Operation[] };
};

/** What the search itself must not follow: its start is inside, so the decision can't tell. */
const OF_THE_SEARCH = ["PA048"];

const entries: Entry[] = (await readFile("test/fixtures/security/paths.jsonl", "utf8"))
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

async function apply(operations: readonly Operation[], top: string): Promise<void> {
  for (const { op, path, text, to } of operations) {
    const target = join(top, path);
    await mkdir(dirname(target), { recursive: true });
    if (op === "dir") await mkdir(target, { recursive: true });
    else if (op === "file") await writeFile(target, (text ?? "").replaceAll("${T}", top));
    else if (op === "symlink") await symlink((to ?? "").replaceAll("${T}", top), target);
    else if (op === "hardlink") await link(join(top, to ?? ""), target);
    else if (op === "fifo") await run("mkfifo", [target]);
    else await rm(target, { recursive: true, force: true });
  }
}

function runsHere(entry: Entry): boolean {
  if (entry.platform === "linux") return process.platform === "linux";
  if (entry.platform === "posix") return process.platform !== "win32";
  return entry.platform === undefined || process.platform === entry.platform;
}

test("every path leads where the kernel would lead it, in every mode", async () => {
  const failed: string[] = [];
  let checked = 0;
  for (const entry of entries.filter(runsHere)) {
    await using temp = await tempFolder("paths");
    await mkdir(join(temp.path, "home", "proj"), { recursive: true });
    await apply(entry.setup, temp.path);
    await mkdir(join(temp.path, entry.cwd), { recursive: true });
    checked++;
    const decideNow = () => decideEntry(entry, temp.path);
    const wanted = entry.race || OF_THE_SEARCH.includes(entry.id) ? "allow" : expected(entry);
    const before = await decideNow();
    if (before !== wanted) failed.push(`${entry.id} ${entry.path} is ${before}, not ${wanted}`);
    if (!entry.race) continue;
    await apply(entry.race.afterCheck, temp.path);
    const after = await decideNow();
    if (after !== expected(entry)) failed.push(`${entry.id} ${entry.path} is ${after} after the change`);
  }
  expect(failed).toEqual([]);
  expect([entries.length, checked]).toEqual([77, process.platform === "linux" ? 76 : checked]);
});

function expected(entry: Entry): string {
  if (entry.expect !== "inside") return "deny path";
  return entry.sticky ? "sticky ask path" : "allow";
}

async function decideEntry(entry: Entry, top: string): Promise<string> {
  const path = entry.path.replaceAll("${T}", top);
  const input = { path, content: "x", ...(entry.pattern === undefined ? {} : { pattern: entry.pattern }) };
  const decision = await decide(
    { agent: "test", tool: entry.tool, access: accessIn(entry.tool, input) },
    {
      ground: {
        root: join(top, entry.root),
        cwd: join(top, entry.cwd),
        home: join(top, "home"),
        dataFolder: join(top, "home", ".roocode"),
        extraRoots: entry.extra.map((each) => join(top, each)),
        files: DISK,
      },
      mode: "bypassPermissions",
      rules: ruleSet({ local: ["allow Edit", "allow Read"] }),
      isTrusted: true,
      gitIsSafe: () => true,
    },
  );
  return decision.decision === "allow" ? "allow" : `${decision.sticky ? "sticky " : ""}${decision.decision} ${decision.layer}`;
}
