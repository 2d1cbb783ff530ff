import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Subagents } from "../../src/engine/subagents/background.ts";
import { dataPaths } from "../../src/platform/paths.ts";
import { processStart } from "../../src/platform/process.ts";
import { SessionTeams } from "../../src/runtime/session-teams.ts";
import { createAuthorize } from "../../src/safety/authorize.ts";
import { teamLayout } from "../../src/team/bus/file/layout.ts";
import { createFileTeam } from "../../src/team/bus/file/open.ts";
import { tempFolder } from "../support/temp.ts";
import { sampleTeam } from "../team/bus/sample-team.ts";

type Host = ConstructorParameters<typeof SessionTeams>[0];

/** What a session gives its teams, as far as is asked for before one begins. */
function session(root: string, agents: Subagents): SessionTeams {
  const authorize = createAuthorize({
    context: {
      root,
      cwd: root,
      home: root,
      dataFolder: join(root, "data"),
      extraRoots: [],
      mode: () => "acceptEdits",
      rules: () => ({ rules: [], warnings: [] }),
      isTrusted: true,
      isHeadless: true,
      contains: async () => true,
    },
  });
  // The rest of a host is not asked for here.
  const host = {
    surroundings: { data: dataPaths(root, join(root, "data")), cwd: root, env: {}, flags: {} },
    mode: () => "acceptEdits",
    session: "session-1",
    left: () => undefined,
    parent: () => ({ permissions: { authorize } }),
  } as unknown as Host;
  return new SessionTeams(host, agents);
}

test("a check that only the OS sandbox makes harmless is not allowed: as the team's own it would run outside of it", async () => {
  await using temp = await tempFolder("session-teams");
  await using agents = new Subagents();
  const made = session(temp.path, agents).create({ goal: "a shop", check: "npm test" }, new AbortController().signal);
  await expect(made).rejects.toThrow(/^The check "npm test" is denied: .*outside of the OS sandbox/);
});

test("teams that can't be read keep no session from going on, and its own team is told", async () => {
  await using temp = await tempFolder("session-teams");
  await using agents = new Subagents();
  const data = dataPaths(temp.path, join(temp.path, "data"));
  const team = sampleTeam();
  // Process 1 was not started then.
  const lead = { process: { pid: 1, startedAt: `not ${processStart(1)}` }, permissionMode: "acceptEdits", session: "session-1" } as const;
  await createFileTeam(data.team("own"), { ...team, name: "own", lead });
  for (const [name, text] of [
    ["broken", "{"],
    ["newer", JSON.stringify({ version: 2 })],
  ] as const) {
    const { roster } = teamLayout(data.team(name));
    await mkdir(roster, { recursive: true });
    await writeFile(join(roster, "1.json"), text);
  }
  await session(temp.path, agents).remember();
  expect(agents.list().map(({ id }) => id)).toEqual(["team-own"]);
});
