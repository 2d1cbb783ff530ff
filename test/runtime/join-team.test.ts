import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitText } from "../../src/platform/git.ts";
import { joinTeam } from "../../src/runtime/join-team.ts";
import { createFileTeam, readFileTeam } from "../../src/team/bus/file/open.ts";
import { childEnvironment, testHome } from "../support/home.ts";
import { sampleTeam } from "../team/bus/sample-team.ts";

test("of two who join, or take over a member, by one name at once, one does, and nothing of it is taken away", async () => {
  await using home = await testHome();
  const folder = join(home.data, "teams", "t");
  const baseCommit = await gitText(home.repo, ["rev-parse", "HEAD"]);
  await createFileTeam(folder, { ...sampleTeam(), name: "t", repoRoot: home.repo, baseBranch: "main", baseCommit });
  const both = () => Promise.allSettled([1, 2].map(() => joinTeam({ team: "t", name: "carol" }, childEnvironment(home.home))));
  for (const epoch of [1, 2]) {
    const ends = await both();
    expect(ends.flatMap((end) => (end.status === "fulfilled" ? [end.value.epoch] : []))).toEqual([epoch]);
    expect(ends.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { name: "UserError", message: "carol was started by somebody else just now." },
    });
    const [carol] = (await readFileTeam(folder)).team.members;
    expect(carol).toMatchObject({ name: "carol", epoch });
    expect(existsSync(carol?.worktreePath ?? "")).toBe(true);
  }
});
