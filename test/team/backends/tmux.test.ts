import { spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { processStart } from "../../../src/platform/process.ts";
import { eventually } from "../../support/eventually.ts";
import { tmuxTest } from "../../support/in-tmux.ts";
import { type TmuxServer, tmuxServer, tmuxSocket } from "../../support/tmux-server.ts";
import { tmuxTeam, WORKER } from "./tmux-team.ts";

const EIGHT = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi"];

function script(server: Pick<TmuxServer, "folder">, name: string, text: string): string {
  const path = join(server.folder, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function panesOf(server: Pick<TmuxServer, "lines">, window: string): Promise<string[]> {
  return server.lines("list-panes", "-t", window, "-F", "#{pane_id}");
}

tmuxTest("T01: a shell that starts slowly and drops what was typed does not keep a teammate from starting", async () => {
  await using server = await tmuxServer({ config: 'set -g default-shell /bin/bash\nset -g default-command "sleep 30; exec bash"' });
  const team = tmuxTeam(server);
  const pane = await team.spawn("alice", { args: ["--boot", "/a b/$HOME.json"] });
  expect(team.report("alice")).toMatchObject({ pane, argv: ["--boot", "/a b/$HOME.json"] });
});

tmuxTest("T02: windows and panes that count from 1 change nothing, also for a teammate that starts again", async () => {
  await using server = await tmuxServer({ config: "set -g base-index 1\nsetw -g pane-base-index 1" });
  const team = tmuxTeam(server);
  const [alice, bob] = await Promise.all([team.spawn("alice"), team.spawn("bob")]);
  await team.backend.kill(alice);
  const again = await team.spawn("alice");
  expect([team.report("alice").pane, team.report("bob").pane]).toEqual([again, bob]);
  expect(await server.lines("list-panes", "-a", "-F", "#{pane_id} #{@roocode_agent} #{pane_title}")).toEqual(
    expect.arrayContaining([`${again} shop/alice alice`, `${bob} shop/bob bob`]),
  );
});

tmuxTest("T03: panes open where the lead is, not where the person looks", async () => {
  await using server = await tmuxServer({ config: "" });
  await server.tmux("new-session", "-d", "-s", "other", "-x", "200", "-y", "50", "tail", "-f", "/dev/null");
  const client = spawn("tmux", [...server.socketArgs, "-C", "attach", "-t", "other"], { env: { ...server.env, TMUX: undefined } });
  await eventually(async () => (await server.lines("list-clients", "-t", "other")).length === 1);
  const team = tmuxTeam(server);
  const panes = await Promise.all(EIGHT.slice(0, 5).map((name) => team.spawn(name)));
  const homes = await server.lines("list-panes", "-s", "-t", "user", "-F", "#{pane_id}");
  expect(new Set(homes)).toEqual(new Set([server.leadPane, ...panes]));
  expect((await server.lines("list-panes", "-s", "-t", "other")).length).toBe(1);
  client.kill();
});

tmuxTest("T04: what is typed while teammates start arrives at the lead, and the active pane stays", async () => {
  await using server = await tmuxServer();
  const team = tmuxTeam(server);
  await eventually(() => existsSync(join(server.folder, "typed")));
  const spawns = EIGHT.slice(0, 4).map((name) => team.spawn(name));
  let isDone = false;
  const all = Promise.all(spawns).finally(() => {
    isDone = true;
  });
  // To the session, that is to its active pane, like a person's keys.
  let sent = "";
  for (let next = 0; !isDone || next < 6; next++) {
    const key = String.fromCharCode(97 + (next % 26));
    await server.tmux("send-keys", "-t", "user:", "-l", key);
    sent += key;
    expect(await server.tmux("display-message", "-p", "-t", "user:", "#{pane_id}")).toBe(server.leadPane);
  }
  await all;
  await eventually(() => server.typed() === sent);
});

tmuxTest("T05: eight teammates find room at 80x24, in windows of their own, and the lead's window stays as it was", async () => {
  await using server = await tmuxServer({ columns: 80, rows: 24 });
  const team = tmuxTeam(server);
  const before = await server.tmux("display-message", "-p", "-t", server.leadPane, "#{window_layout}");
  const panes = await Promise.all(EIGHT.map((name) => team.spawn(name)));
  expect(new Set(panes).size).toBe(8);
  expect(await Promise.all(panes.map((pane) => team.backend.state(pane)))).toEqual(panes.map(() => ({ alive: true })));
  expect(await server.tmux("display-message", "-p", "-t", server.leadPane, "#{window_layout}")).toBe(before);
  const counts = await server.lines("list-windows", "-t", "user", "-F", "#{window_panes} #{window_active}");
  expect(counts).toEqual(["1 1", "6 0", "2 0"]);
  expect(team.notes).toEqual(['The teammates of "shop" are in tmux window 1. To see it: C-b 1']);
});

tmuxTest("T07: a default shell that is no POSIX shell is never called", async () => {
  await using socket = await tmuxSocket();
  const shell = script(socket, "shell", `echo "$@" >> '${socket.folder}/shell.log'; exit 1`);
  await using server = await tmuxServer({ config: `set -g default-shell ${shell}` });
  const team = tmuxTeam(server);
  await Promise.all(EIGHT.slice(0, 5).map((name) => team.spawn(name)));
  expect(existsSync(`${socket.folder}/shell.log`)).toBe(false);
});

tmuxTest("T08: a pane that someone closed is known as gone, and its teammate starts again", async () => {
  await using server = await tmuxServer();
  const team = tmuxTeam(server);
  const first = await team.spawn("alice");
  const { pid } = team.report("alice");
  await server.tmux("kill-pane", "-t", first);
  expect(await team.backend.state(first)).toEqual({ alive: false });
  await eventually(() => processStart(pid) === undefined);
  await team.backend.kill(first);
  const bob = await team.spawn("bob");
  const second = await team.spawn("alice");
  expect(await Promise.all([bob, second].map((pane) => team.backend.state(pane)))).toEqual([{ alive: true }, { alive: true }]);
});

tmuxTest("T09: the person's panes live on, in the lead's window and in the team's", async () => {
  await using server = await tmuxServer();
  const mine = await server.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", server.leadPane, "sleep", "999");
  const before = await server.tmux("display-message", "-p", "-t", server.leadPane, "#{window_layout}");
  const team = tmuxTeam(server);
  const alice = await team.spawn("alice");
  const guest = await server.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", alice, "sleep", "999");
  const broken = script(server, "broken", "exit 4");
  await expect(team.spawn("bob", { command: [broken, "x"] })).rejects.toThrow("exit status 4");
  await team.backend.kill(mine);
  await team.backend.kill(alice);
  expect(await server.lines("list-panes", "-a", "-F", "#{pane_id} #{pane_dead}")).toEqual([
    `${server.leadPane} 0`,
    `${mine} 0`,
    `${guest} 0`,
  ]);
  expect(await server.tmux("display-message", "-p", "-t", server.leadPane, "#{window_layout}")).toBe(before);
});

tmuxTest("T12: a worker that ends at once is an error with its exit status and its words, and its pane is closed", async () => {
  await using server = await tmuxServer();
  const team = tmuxTeam(server);
  const boom = script(server, "boom", "sleep 0.2; echo boom; exit 3");
  await expect(team.spawn("alice", { command: [boom, "--boot"] })).rejects.toThrow("it ended with exit status 3. Its last lines:\nboom");
  expect(await panesOf(server, server.leadWindow)).toEqual([server.leadPane]);
});

tmuxTest("T12: a worker that is not there, or that never reports ready, leaves neither pane nor process", async () => {
  await using server = await tmuxServer();
  const team = tmuxTeam(server, { readyWithinMs: 500 });
  await expect(team.spawn("alice", { command: ["/no/such/worker", "--boot"] })).rejects.toThrow("it ended with exit status 1");
  const mute = script(server, "mute", `echo $$ > '${server.folder}/pid'; exec sleep 999`);
  await expect(team.spawn("bob", { command: [mute, "--boot"] })).rejects.toThrow("ready");
  expect(processStart(Number(readFileSync(join(server.folder, "pid"), "utf8")))).toBeUndefined();
  expect(await server.lines("list-panes", "-a", "-F", "#{pane_id}")).toEqual([server.leadPane]);
});

tmuxTest("T14: all operations talk to the server around the lead, whatever its socket is called", async () => {
  await using server = await tmuxServer();
  await using other = await tmuxServer();
  // The same sockets' folder: a call without the right socket would reach the wrong server.
  const team = tmuxTeam({ ...server, env: { ...other.env, TMUX: server.env.TMUX, TMUX_PANE: server.env.TMUX_PANE } });
  const pane = await team.spawn("alice");
  expect(await team.backend.state(pane)).toEqual({ alive: true });
  expect((await server.lines("list-panes", "-a")).length).toBe(2);
  expect((await other.lines("list-panes", "-a")).length).toBe(1);
  await team.backend.kill(pane);
  expect((await server.lines("list-panes", "-a")).length).toBe(1);
});

tmuxTest("T15: eight commands that together are longer than tmux takes all start, with their own arguments only", async () => {
  await using server = await tmuxServer();
  const team = tmuxTeam(server);
  const long = "x".repeat(3500);
  await Promise.all(EIGHT.map((name) => team.spawn(name, { args: ["--boot", `/${name}/${long};`] })));
  expect(EIGHT.map((name) => team.report(name).argv)).toEqual(EIGHT.map((name) => ["--boot", `/${name}/${long};`]));
});

tmuxTest("a worktree's name is never a format: nothing in it runs, and a harmless one is where the worker starts", async () => {
  await using server = await tmuxServer();
  const team = tmuxTeam(server);
  const odd = join(server.folder, "#(touch pwned) #{pid} 店;");
  const harmless = join(server.folder, "my 店 'shop'");
  await Promise.all([team.spawn("alice", { worktree: odd }), team.spawn("博#{pid}", { worktree: harmless })]);
  expect([team.report("alice").cwd, team.report("博#{pid}").cwd]).toEqual(["/", harmless]);
  expect([server.folder, odd, "/"].map((folder) => existsSync(join(folder, "pwned")))).toEqual([false, false, false]);
  expect(await server.lines("list-panes", "-a", "-F", "#{pane_title}")).toContain("博#{pid}");
});

tmuxTest("the end of a worker is told with its signal until it starts again, which closes the dead pane", async () => {
  await using server = await tmuxServer();
  const team = tmuxTeam(server);
  const [alice, bob] = await Promise.all([team.spawn("alice"), team.spawn("bob")]);
  process.kill(team.report("alice").pid, "SIGKILL");
  await eventually(async () => !(await team.backend.state(alice)).alive);
  expect(await team.backend.state(alice)).toEqual({ alive: false, signal: 9 });
  const again = await team.spawn("alice");
  expect(await panesOf(server, server.leadWindow)).toEqual([server.leadPane, bob, again]);
});

tmuxTest("kill ends children that left the worker's group", async () => {
  await using server = await tmuxServer();
  const team = tmuxTeam(server);
  const child = script(server, "child", `echo $$ > '${server.folder}/child'; exec sleep 999`);
  const parent = script(server, "parent", `setsid '${child}' & "$@"`);
  const pane = await team.spawn("alice", { command: [parent, WORKER, join(server.folder, "shop.alice.ready")] });
  await eventually(() => existsSync(join(server.folder, "child")));
  await team.backend.kill(pane);
  expect(processStart(Number(readFileSync(join(server.folder, "child"), "utf8")))).toBeUndefined();
});

tmuxTest("another team's pane is not ours", async () => {
  await using server = await tmuxServer();
  const [shop, market] = [tmuxTeam(server), tmuxTeam(server, { team: "shop2" })];
  const pane = await shop.spawn("alice");
  expect(await market.backend.state(pane)).toEqual({ alive: false });
  await market.backend.kill(pane);
  expect(await shop.backend.state(pane)).toEqual({ alive: true });
});

tmuxTest("keys for a window whose panes are synchronised do not reach a teammate", async () => {
  await using server = await tmuxServer({ config: "setw -g synchronize-panes on" });
  const team = tmuxTeam(server);
  await team.spawn("alice");
  await server.tmux("send-keys", "-t", server.leadPane, "y");
  await eventually(() => server.typed() === "y");
  expect(team.typed("alice")).toBe("");
});

tmuxTest("with the layout 'window' the lead's pane is left alone", async () => {
  await using server = await tmuxServer();
  const team = tmuxTeam(server, { layout: "window" });
  await Promise.all(EIGHT.map((name) => team.spawn(name)));
  expect(await server.lines("list-windows", "-F", "#{window_panes}")).toEqual(["1", "6", "2"]);
});

tmuxTest("a lead that starts again finds the team's windows", async () => {
  await using server = await tmuxServer();
  const alice = await tmuxTeam(server, { layout: "window" }).spawn("alice");
  const reborn = tmuxTeam(server, { layout: "window" });
  await reborn.spawn("bob");
  expect(await server.lines("list-windows", "-F", "#{window_panes}")).toEqual(["1", "2"]);
  expect(await reborn.backend.state(alice)).toEqual({ alive: true });
});

tmuxTest("outside of tmux the team has a session of its own, which is told, keeps no keys and is gone at the end", async () => {
  await using socket = await tmuxSocket();
  const env = { ...socket.env, ANTHROPIC_API_KEY: "sk-secret" };
  const team = tmuxTeam({ ...socket, env }, { socketArgs: socket.socketArgs });
  expect(await team.backend.state("%0")).toEqual({ alive: false });
  const panes = await Promise.all(EIGHT.map((name) => team.spawn(name)));
  expect(await socket.lines("list-windows", "-a", "-F", "#{session_name} #{window_panes} #{window_width}")).toEqual([
    "roocode-shop 6 240",
    "roocode-shop 2 240",
  ]);
  expect(team.notes).toEqual([
    `The teammates of "shop" are in a tmux session of their own. To see them: tmux ${socket.socketArgs.slice(0, 2).join(" ")} attach -t '=roocode-shop'`,
  ]);
  expect(await socket.tmux("show-environment", "-g")).not.toContain("secret");
  await Promise.all(panes.map((pane) => team.backend.kill(pane)));
  await expect(socket.tmux("list-panes", "-a")).rejects.toThrow("no server running");
});

tmuxTest("a session that has the team's name and is not the team's is left alone", async () => {
  await using socket = await tmuxSocket();
  await socket.tmux("new-session", "-d", "-s", "roocode-shop", "sleep", "999");
  const team = tmuxTeam(socket, { socketArgs: socket.socketArgs });
  await team.backend.kill(await team.spawn("alice"));
  expect(team.notes.join()).toContain("'=roocode-shop-2'");
  expect(await socket.lines("list-sessions", "-F", "#{session_name} #{session_windows}")).toEqual(["roocode-shop 1"]);
});
