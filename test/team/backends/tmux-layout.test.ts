import { expect, test } from "vitest";
import { choosePlaces, type Ground } from "../../../src/team/backends/tmux-layout.ts";
import type { Pane } from "../../../src/team/backends/tmux-panes.ts";

function pane(id: string, more: Partial<Pane> = {}): Pane {
  const home = { window: "@0", session: "$0", width: 200, height: 50 };
  return { id, pid: 1, server: 1, isDead: false, isZoomed: false, agent: id === "%0" ? "" : "shop/x", team: "", ...home, ...more };
}

function ground(panes: readonly Pane[], more: Partial<Ground> = {}): Ground {
  const isOurs = (one: Pane) => one.agent !== "";
  return { panes, lead: panes[0], layout: "auto", isOurs, isOurWindow: (window) => window !== "@0", full: new Set(), ...more };
}

const beside = { type: "split", window: "@0", withLead: true };
const window = { type: "window", session: "$0" };

test("three go beside a lead that is alone, the fourth gets a window", () => {
  expect(choosePlaces(4, ground([pane("%0")]))).toEqual([beside, beside, beside, window]);
  expect(choosePlaces(2, ground([pane("%0"), pane("%1"), pane("%2")]))).toEqual([beside, window]);
});

test("a person's pane beside the lead, a zoomed lead, a narrow window or the layout 'window' keep teammates out of the lead's window", () => {
  expect(choosePlaces(1, ground([pane("%0"), pane("%1", { agent: "" })]))).toEqual([window]);
  expect(choosePlaces(1, ground([pane("%0", { isZoomed: true })]))).toEqual([window]);
  expect(choosePlaces(1, ground([pane("%0", { width: 159 })]))).toEqual([window]);
  expect(choosePlaces(1, ground([pane("%0")], { layout: "window" }))).toEqual([window]);
});

test("the layout 'split' makes do with half the columns", () => {
  expect(choosePlaces(1, ground([pane("%0", { width: 80 })], { layout: "split" }))).toEqual([beside]);
});

test("a window of the team's own is filled to six, or to what a small one can show, before the next", () => {
  const lead = pane("%0", { width: 100 });
  const five = ["%1", "%2", "%3", "%4", "%5"].map((id) => pane(id, { window: "@1" }));
  expect(choosePlaces(2, ground([lead, ...five]))).toEqual([{ type: "split", window: "@1", withLead: false }, window]);
  expect(choosePlaces(1, ground([lead, ...five], { full: new Set(["@1"]) }))).toEqual([window]);
  expect(choosePlaces(3, ground([pane("%0", { width: 40, height: 10 })]))).toEqual([window, window, window]);
});

test("outside of tmux the first place is a session, later ones are its windows", () => {
  const outside = { lead: undefined };
  expect(choosePlaces(8, ground([], outside))).toEqual([{ type: "session" }]);
  const full = ["%1", "%2", "%3", "%4", "%5", "%6"].map((id) => pane(id, { window: "@1", session: "$4" }));
  expect(choosePlaces(7, ground(full, outside))).toEqual([
    { type: "window", session: "$4" },
    { type: "window", session: "$4" },
  ]);
});
