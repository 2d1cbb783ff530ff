import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { processStart } from "../../../src/platform/process.ts";
import { tmuxTest } from "../../support/in-tmux.ts";
import { tmuxServer } from "../../support/tmux-server.ts";
import { tmuxTeam } from "./tmux-team.ts";

const FOLDER = fileURLToPath(new URL("../../fixtures/tmux/", import.meta.url));
const CONFIGS = readdirSync(FOLDER).filter((name) => name.endsWith(".conf"));
const NAMES = ["alice", "bob", "carol", "dave", "erin"];

test("there are eight odd configurations", () => {
  expect(CONFIGS.length).toBe(8);
});

tmuxTest.each(CONFIGS)("five teammates start, are known and go away under the configuration %s", async (file) => {
  await using server = await tmuxServer({ config: readFileSync(FOLDER + file, "utf8") });
  const team = tmuxTeam(server);

  const panes = await Promise.all(NAMES.map((name) => team.spawn(name)));
  expect(NAMES.map((name) => team.report(name).pane)).toEqual(panes);
  expect(await Promise.all(panes.map((pane) => team.backend.state(pane)))).toEqual(panes.map(() => ({ alive: true })));
  // The lead and three teammates in its window, the lead at the left with half of it and still the active pane.
  const beside = await server.lines("list-panes", "-t", server.leadWindow, "-F", "#{pane_id} #{pane_left} #{pane_active}");
  expect(beside[0]).toBe(`${server.leadPane} 0 1`);
  expect(beside.length).toBe(4);
  expect(new Set(beside.slice(1).map((line) => line.split(" ")[1])).size).toBe(1);

  await Promise.all(panes.map((pane) => team.backend.kill(pane)));
  expect(await server.lines("list-panes", "-a", "-F", "#{pane_id} #{pane_width}")).toEqual([`${server.leadPane} 240`]);
  expect(NAMES.map((name) => processStart(team.report(name).pid))).toEqual(NAMES.map(() => undefined));
});
