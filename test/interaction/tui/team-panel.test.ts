import { expect, test } from "vitest";
import { TeamPanel } from "../../../src/interaction/tui/team-panel.ts";
import { makeTheme } from "../../../src/interaction/tui/theme.ts";
import type { MemberStatus } from "../../../src/protocol/team.ts";
import type { TeamStatus } from "../../../src/runtime/team-status.ts";

const member = (name: string, state: MemberStatus, more: Partial<TeamStatus["members"][number]> = {}): TeamStatus["members"][number] => ({
  name,
  state,
  branch: name,
  worktree: `/w/${name}`,
  backendType: "tmux",
  epoch: 1,
  permissionMode: "default",
  baseCommit: "0",
  unread: 0,
  ...more,
});
const usage = { input: 12_000, output: 345, cacheRead: 0, cacheWrite: 0 };
const STATUS: TeamStatus = {
  team: "auth",
  goal: "g",
  state: "busy",
  baseBranch: "main",
  baseCommit: "0",
  members: [
    member("alice", "busy", { task: "1", spent: { usage, cost: 0.034 }, paneId: "%3" }),
    member("bob", "waiting", { detail: "an answer: Bash(npm test)", unread: 2 }),
    member("李雷", "idle"),
    member("dave", "dead"),
  ],
  tasks: [
    { id: "1", subject: "The API", description: "", status: "in_progress", owner: "alice", blockedBy: [], attempts: 1, waitsFor: [] },
    { id: "2", subject: "The page", description: "", status: "pending", blockedBy: ["1"], attempts: 0, waitsFor: ["1"] },
  ],
  mail: [],
};

async function panelOf(status: TeamStatus, rows = 40) {
  let looks = 0;
  const panel = new TeamPanel({
    theme: makeTheme({ hasColours: false }),
    look: async () => {
      looks += 1;
      return status;
    },
    redraw: () => undefined,
    onProblem: (text) => expect.fail(text),
    rows: () => rows,
  });
  await expect.poll(() => panel.render(100).length).toBeGreaterThan(0);
  return { panel, looks: () => looks };
}
const plain = (lines: string[]) => lines.map((line) => line.replaceAll(/\x1b\[\d*m/g, "").trimEnd());

test("a line for each member: state, task, what it waits for, cost, last word", async () => {
  const { panel } = await panelOf(STATUS);
  panel.observe("alice", { type: "tool_use", call: { type: "tool_use", id: "1", name: "Bash", input: { command: "npm test" } } });
  expect(plain(panel.render(100))).toEqual([
    "",
    "Team auth · 0 of 2 tasks done",
    "  ● alice  busy · 1: The API · 12k tokens $0.034  ● Bash(npm test)",
    "  ● bob    waiting (an answer: Bash(npm test)) · 2 unread",
    "  ○ 李雷     idle",
    "  ● dave   dead",
    "  tasks: 2 waits for 1",
    "To the lead · Tab another",
  ]);
});

test("no line is wider than the screen, down to one column", async () => {
  const { panel } = await panelOf(STATUS);
  const { visibleWidth } = await import("@earendil-works/pi-tui");
  for (const width of [40, 20, 7, 1]) for (const line of panel.render(width)) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
  expect(plain(panel.render(40)).join("\n")).toContain("● bob    waiting (an answer: Bash(npm…");
});

test("Tab chooses the next, whose doings are shown; Esc goes back to the lead", async () => {
  const { panel } = await panelOf(STATUS);
  panel.observe("alice", { type: "notice", text: "something happened" });
  expect(panel.take("\t", false)).toBe(false);
  expect(panel.take("\t", true)).toBe(true);
  expect([panel.chosen, panel.chosenPane]).toEqual(["alice", "%3"]);
  const shown = plain(panel.render(100));
  expect(shown).toContain("    │ something happened");
  expect(shown.at(-1)).toBe("To alice · Tab another · Ctrl+G its pane");
  panel.take("\x1b", true);
  expect(panel.chosen).toBe("lead");
  expect(panel.take("\x1b", true)).toBe(false);
});

test("of sixteen members as many are shown as leave half of the screen", async () => {
  const many = { ...STATUS, members: Array.from({ length: 16 }, (_, index) => member(`m${index}`, "busy")) };
  const { panel } = await panelOf(many, 24);
  const shown = plain(panel.render(80));
  expect(shown.length).toBeLessThanOrEqual(12);
  expect(shown).toContain("  … and 11 more");
});

test("the files are read after something happened, not by a clock", async () => {
  const { panel, looks } = await panelOf(STATUS);
  expect(looks()).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(looks()).toBe(1);
  for (let index = 0; index < 20; index += 1) panel.observe("bob", { type: "notice", text: "x" });
  await expect.poll(looks).toBe(2);
});
