import { expect, test } from "vitest";
import { integratorPrompt } from "../../../src/team/converge/integrator-job.ts";
import { sampleTeam } from "../bus/sample-team.ts";

const branch = (name: string, conflicts: string[] = []) => ({
  name,
  branch: `worktree-team-x+${name}`,
  tip: "0",
  commits: [],
  fork: "0",
  changes: new Map([["a.txt", "M"]]),
  conflicts,
});

const prompt = (conflicting: string[]) =>
  integratorPrompt({
    team: { ...sampleTeam(), version: 1, revision: 1 },
    start: "0123456789abcdef",
    worktree: "/w",
    branches: [branch("alice"), branch("bob"), branch("carol"), branch("dora", conflicting)],
    pairs: conflicting.length > 0 ? [{ names: ["alice", "bob"], conflicts: ["a.txt"] }] : [],
    tasks: [],
    before: [],
  });
const namesIn = (part = "") => [...part.matchAll(/"merge: (\w+)"/g)].map(([, name]) => name);

test("branches without a conflict are to be merged in one turn, those with one by themselves", () => {
  const parts = prompt(["b.txt"]).split("\n\n");
  expect(namesIn(parts.find((part) => part.startsWith("Without a conflict, all in one turn")))).toEqual(["carol"]);
  expect(namesIn(parts.find((part) => part.startsWith("One at a time")))).toEqual(["alice", "bob", "dora"]);
});

test("without any conflict all go into one turn", () => {
  const parts = prompt([]).split("\n\n");
  expect(namesIn(parts.find((part) => part.startsWith("Without a conflict, all in one turn")))).toHaveLength(4);
  expect(parts.some((part) => part.startsWith("One at a time"))).toBe(false);
});
