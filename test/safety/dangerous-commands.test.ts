import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { PermissionMode } from "../../src/protocol/permission.ts";
import { decide } from "../../src/safety/decide.ts";
import { DISK } from "../../src/safety/path-sandbox.ts";
import { ruleSet } from "../../src/safety/rules.ts";

type Entry = {
  id: string;
  kind: "hard-deny" | "never-auto-allow" | "benign";
  cmd: string;
  cwd: string;
  allow: string[];
  expect: string;
  sticky: boolean;
  layer?: number;
};
const entries: Entry[] = readFileSync("test/fixtures/security/dangerous.jsonl", "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

function decideEntry(entry: Entry, mode: PermissionMode, allow: readonly string[], everywhere = false) {
  const rules = allow.map((rule) => `allow ${rule}`);
  return decide(
    { agent: "test", tool: "Bash", access: { kind: "command", subject: entry.cmd } },
    {
      ground: { root: "/home/dev/proj", cwd: entry.cwd, home: "/home/dev", dataFolder: "/home/dev/.roocode", extraRoots: [], files: DISK },
      mode,
      rules: ruleSet(everywhere ? { user: rules, project: rules, local: rules } : { local: rules }),
      isTrusted: true,
      gitIsSafe: () => true,
    },
  );
}

async function failures(kind: Entry["kind"]): Promise<string[]> {
  const failed: string[] = [];
  for (const entry of entries.filter((each) => each.kind === kind)) {
    const decision = await decideEntry(entry, "default", entry.allow);
    const problems =
      decision.decision === entry.expect && decision.sticky === entry.sticky
        ? []
        : [`is ${decision.sticky ? "sticky " : ""}${decision.decision} (${decision.layer}: ${decision.reason})`];
    if (kind === "hard-deny" && entry.expect === "deny") {
      const forced = await decideEntry(entry, "bypassPermissions", ["Bash", "Bash(*)", "Edit", "Read"], true);
      if (forced.decision !== "deny") problems.push(`is ${forced.decision} with everything allowed`);
    }
    const layers = ["danger", "path", "rule", "mode"];
    // Of a never-auto-allow the file names the layer that must not let it pass, not the one that speaks first.
    if (kind === "hard-deny" && entry.layer !== undefined && decision.layer !== layers[entry.layer - 1])
      problems.push(`is decided by layer ${decision.layer}`);
    if (entry.sticky) {
      const bypassed = await decideEntry(entry, "bypassPermissions", entry.allow);
      if (bypassed.decision !== "ask") problems.push(`is ${bypassed.decision} in bypassPermissions`);
    }
    if (kind === "benign") {
      for (const mode of ["default", "acceptEdits", "plan", "bypassPermissions"] as const) {
        const other = await decideEntry(entry, mode, entry.allow);
        if (other.decision === "deny" || (mode === "bypassPermissions" && other.decision !== "allow"))
          problems.push(`is ${other.decision} in ${mode} (${other.reason})`);
      }
    }
    failed.push(...problems.map((problem) => `${entry.id} ${JSON.stringify(entry.cmd)} ${problem}`));
  }
  return failed;
}

test("the file of dangerous commands is whole", () => {
  const count = (kind: Entry["kind"]) => entries.filter((entry) => entry.kind === kind).length;
  expect([entries.length, count("hard-deny"), count("never-auto-allow"), count("benign")]).toEqual([275, 107, 104, 64]);
});

test("what must never run is denied, also with every rule and mode on its side", async () => {
  expect(await failures("hard-deny")).toEqual([]);
});

test("what must not run unasked asks, and stays sticky where it is", async () => {
  expect(await failures("never-auto-allow")).toEqual([]);
});

test("everyday commands are not refused", async () => {
  expect(await failures("benign")).toEqual([]);
});
