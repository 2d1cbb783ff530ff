import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { PermissionMode } from "../../src/protocol/permission.ts";
import { decide } from "../../src/safety/decide.ts";
import { denyUnanswered } from "../../src/safety/narrowest-rule.ts";
import { DISK } from "../../src/safety/path-sandbox.ts";
import { ruleSet } from "../../src/safety/rules.ts";
import { accessIn } from "../support/access.ts";
import { tempFolder } from "../support/temp.ts";

type Operation = { op: "dir" | "file" | "symlink"; path: string; text?: string; to?: string };
type Entry = {
  id: string;
  user: string[];
  project: string[];
  local: string[];
  tool: string;
  input: Record<string, unknown>;
  mode: PermissionMode;
  headless?: boolean;
  trusted?: boolean;
  setup?: Operation[];
  expect: "allow" | "ask" | "deny";
  decidedBy?: number;
};

const LAYERS = ["danger", "path", "rule", "mode", "human"];
const entries: Entry[] = (await readFile("test/fixtures/security/rules.jsonl", "utf8"))
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

test("every call is decided as the three levels of rules and the mode say", async () => {
  const failed: string[] = [];
  for (const entry of entries) {
    await using temp = await tempFolder("rules");
    const root = join(temp.path, "home", "proj");
    await mkdir(root, { recursive: true });
    for (const { op, path, text, to } of entry.setup ?? []) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      if (op === "dir") await mkdir(join(root, path), { recursive: true });
      else if (op === "file") await writeFile(join(root, path), text ?? "");
      else await symlink(to ?? "", join(root, path));
    }
    let decision = await decide(
      { agent: "test", tool: entry.tool, access: accessIn(entry.tool, entry.input) },
      {
        ground: {
          root,
          cwd: root,
          home: join(temp.path, "home"),
          dataFolder: join(temp.path, "home", ".roocode"),
          extraRoots: [],
          files: DISK,
        },
        mode: entry.mode,
        rules: ruleSet({ user: entry.user, project: entry.project, local: entry.local }),
        isTrusted: entry.trusted ?? true,
        planFile: join(root, ".roocode", "plans", "plan.md"),
        gitIsSafe: () => true,
      },
    );
    if (entry.headless && decision.decision === "ask") {
      const final = denyUnanswered({ agent: "test", tool: entry.tool, access: accessIn(entry.tool, entry.input) }, decision, {
        root,
        home: root,
      });
      decision = { ...final };
    }
    if (decision.decision !== entry.expect)
      failed.push(`${entry.id} ${JSON.stringify(entry.input)} is ${decision.decision} (${decision.layer}: ${decision.reason})`);
    if (entry.decidedBy !== undefined && decision.layer !== LAYERS[entry.decidedBy - 1])
      failed.push(`${entry.id} is decided by ${decision.layer}`);
  }
  expect(failed).toEqual([]);
  expect(entries.length).toBe(102);
});
