import { join } from "node:path";
import { expect, test } from "vitest";
import { teamPageHtml } from "../../../src/interaction/team-page/page.ts";
import { TeamPageReader } from "../../../src/runtime/team-page/read-page.ts";
import { bigTeam, recordedTeam } from "../../support/big-team.ts";
import { tempFolder } from "../../support/temp.ts";

test("words of others are text in the page wherever they stand, whatever they hold", async () => {
  await using folder = await tempFolder();
  const team = join(folder.path, "evil");
  const evil = `</title></script></style><img src=x onerror=alert(1)>"'&\u0000\ud800\u202e`;
  const call = { type: "tool_use", id: "1", name: "SendMessage", input: { to: "lead", summary: evil, message: evil } } as const;
  await recordedTeam(team, {
    team: { goal: evil, check: evil, baseBranch: evil },
    tasks: [
      { subject: evil, description: evil, note: evil, check: evil, owner: evil, status: "failed" },
      { subject: evil, blockedBy: ["1"] },
    ],
    events: [
      { seconds: 0, agent: "alice", event: { type: "turn_start", turn: 1 } },
      { seconds: 1, agent: "alice", event: { type: "tool_use", call } },
      { seconds: 2, agent: "alice", event: { type: "message", from: "alice", to: evil, summary: evil, kind: "message" } },
      { seconds: 3, agent: evil, event: { type: "turn_start", turn: 1 } },
      { seconds: 4, agent: "lead", event: { type: "dead", name: "alice", how: evil } },
      { seconds: 5, agent: "alice", event: { type: "task", id: "1", status: "in_progress", owner: evil, subject: evil } },
      { seconds: 6, agent: "lead", event: { type: "merge", name: evil, branch: evil, conflict: [evil, "a\nb"] } },
      { seconds: 7, agent: "lead", event: { type: "merge", name: evil, branch: evil, refused: `${evil}\n${evil}` } },
      { seconds: 8, agent: "lead", event: { type: "merge", name: evil, branch: evil, commit: evil, choices: [evil] } },
      { seconds: 9, agent: "lead", event: { type: "gate", command: evil, ok: false, output: evil } },
      { seconds: 9, agent: "lead", event: { type: "executable", name: evil, branch: evil, files: [evil] } },
      { seconds: 9, agent: "lead", event: { type: "landed", branch: evil, commit: evil } },
      { seconds: 10, agent: "lead", event: { type: "ended", exitCode: 3, text: evil } },
    ],
    audit: [{ at: evil, agent: evil, tool: evil, subject: evil, decision: "deny", layer: evil, rule: evil, reason: evil }],
  });
  const html = teamPageHtml(await new TeamPageReader(team).read());
  expect(html.match(/<(?:img|script|\/script)[^>]*>/g)).toBeNull();
  expect(html.match(/<\/style>/g)).toHaveLength(1);
  expect(html.match(/<\/title>/g)?.length).toBe(html.match(/<title>/g)?.length);
  expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;");
  expect(html).toContain("&quot;a\\nb&quot;");
  expect(html).not.toMatch(/[\0\u202e]|\p{Surrogate}/u);
});

test("a secret that someone wrote is not in the page, not even a part of one where a text is cut", async () => {
  await using folder = await tempFolder();
  const team = join(folder.path, "secret");
  const key = `sk-ant-${"a1".repeat(20)}`;
  const call = {
    type: "tool_use",
    id: "1",
    name: "SendMessage",
    input: { to: "bob", summary: `key ${key}`, message: `${"x".repeat(980)} ${key}` },
  } as const;
  await recordedTeam(team, {
    team: { goal: `use ${key}` },
    tasks: [{ subject: key, description: key, note: key }],
    events: [
      { seconds: 0, agent: "alice", event: { type: "tool_use", call } },
      { seconds: 0, agent: "alice", event: { type: "message", from: "alice", to: "bob", summary: `key ${key}`, kind: "message" } },
      { seconds: 1, agent: "lead", event: { type: "gate", command: key, ok: true, output: key } },
      { seconds: 2, agent: "lead", event: { type: "ended", exitCode: 0, text: key } },
    ],
  });
  const html = teamPageHtml(await new TeamPageReader(team).read());
  expect(html).toContain("[Anthropic key hidden]");
  expect(html).not.toContain("sk-ant-");
});

test("a team of 16 members, 500 tasks, 5,000 messages and 3,000 denials makes a page of a few MB in a second or two, and says what it leaves out", async () => {
  await using folder = await tempFolder();
  const team = join(folder.path, "big");
  await bigTeam(team, { members: 16, tasks: 500, messages: 5000, denials: 3000 });
  const began = process.cpuUsage();
  const html = teamPageHtml(await new TeamPageReader(team).read());
  const { user, system } = process.cpuUsage(began);
  expect(html.length).toBeLessThan(4_000_000);
  expect((user + system) / 1000).toBeLessThan(4000);
  expect(html).toContain("3,000 earlier messages are not on this page");
  expect(html).toContain("2,700 earlier ones are not on this page");
  expect(html.match(/ id="task-\d+"/g)).toHaveLength(500);
});

test("what is drawn of a chain of tasks has a line for each wait; of a circle that should not be, too", async () => {
  await using folder = await tempFolder();
  const team = join(folder.path, "graph");
  await recordedTeam(team, { tasks: [{ blockedBy: ["3"] }, { blockedBy: ["1"] }, { blockedBy: ["1", "2", "9"] }] });
  const html = teamPageHtml(await new TeamPageReader(team).read());
  expect(html.match(/<path class="wait"/g)).toHaveLength(4);
});

test("a team of which nothing has happened yet has a page", async () => {
  await using folder = await tempFolder();
  const team = join(folder.path, "new");
  await recordedTeam(team, { names: [] });
  const html = teamPageHtml(await new TeamPageReader(team).read());
  expect(html).toContain("Nothing has happened yet.");
  expect(html).toContain("There are no tasks.");
});
