import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { takeHandover } from "../../../src/team/backends/tmux-session.ts";
import { eventually } from "../../support/eventually.ts";
import { tmuxTest } from "../../support/in-tmux.ts";
import { tempFolder } from "../../support/temp.ts";
import { type TmuxServer, tmuxServer, tmuxSocket } from "../../support/tmux-server.ts";

const support = (name: string) => fileURLToPath(new URL(`../../support/${name}`, import.meta.url));
const read = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

/** The terminal is a pane of a server of its own; what the session under test makes is on another. */
async function openIn(terminal: TmuxServer, inner: Pick<TmuxServer, "folder" | "socketArgs" | "env">) {
  const handoverFolder = join(inner.folder, "handover");
  mkdirSync(handoverFolder);
  const optionsFile = join(inner.folder, "options");
  const result = join(inner.folder, "result");
  const lead = join(inner.folder, "lead");
  writeFileSync(
    optionsFile,
    JSON.stringify({
      sessionName: "roocode-shop",
      argv: [process.execPath, support("fake-lead.mjs"), "team", "a 'goal' #(touch pwned);", "--name", "shop"],
      cwd: inner.folder,
      env: { ...inner.env, TMUX: "", TMUX_PANE: "", ANTHROPIC_API_KEY: "sk-secret", FAKE_LEAD_FOLDER: inner.folder },
      handoverFolder,
      socketArgs: inner.socketArgs,
    }),
  );
  const command = [process.execPath, "--import", import.meta.resolve("tsx"), support("run-own-session.ts"), optionsFile, result];
  await terminal.tmux("new-window", "-d", ...command);
  await eventually(() => existsSync(lead), 30_000);
  return { handoverFolder, result, lead };
}

tmuxTest("the command goes on in a tmux session of its own and gives back its exit status and its last lines", async () => {
  await using terminal = await tmuxServer();
  await using inner = await tmuxSocket();
  const { handoverFolder, result, lead } = await openIn(terminal, inner);
  const [pane = ""] = await inner.lines("list-panes", "-a", "-F", "#{pane_id}");
  expect(read(lead)).toMatchObject({
    words: ["team", "--handover"],
    mode: "600",
    handover: { argv: ["team", "a 'goal' #(touch pwned);", "--name", "shop"], cwd: inner.folder, env: { ANTHROPIC_API_KEY: "sk-secret" } },
    pane,
    hasKey: false,
  });
  await eventually(async () => (await inner.lines("list-clients", "-F", "#{session_name}")).includes("roocode-shop"));

  writeFileSync(join(inner.folder, "end"), "3");
  await eventually(() => existsSync(result));
  expect(read(result)).toEqual({ code: 3, said: ["All is merged.\n\nThree commits."] });
  expect(readdirSync(handoverFolder)).toEqual([]);
  await expect(inner.tmux("list-panes", "-a")).rejects.toThrow("no server running");
});

tmuxTest("a person who detaches gets the terminal back, and is told how to see the team again", async () => {
  await using terminal = await tmuxServer();
  await using inner = await tmuxSocket();
  const { result } = await openIn(terminal, inner);
  await eventually(async () => (await inner.lines("list-clients")).length === 1);
  await inner.tmux("detach-client", "-s", "roocode-shop");
  await eventually(() => existsSync(result));
  const address = inner.socketArgs.slice(0, 2).join(" ");
  expect(read(result)).toEqual({
    code: 0,
    said: [`The team goes on without you. To see it again: tmux ${address} attach -t '=roocode-shop'`],
  });
  expect(await inner.lines("list-panes", "-a", "-F", "#{pane_dead}")).toEqual(["0"]);
});

tmuxTest("a session that someone closes under the lead is no success, and a taken session name gets a number", async () => {
  await using terminal = await tmuxServer();
  await using inner = await tmuxSocket();
  await inner.tmux("new-session", "-d", "-s", "roocode-shop", "sleep", "999");
  const { result } = await openIn(terminal, inner);
  await eventually(async () => (await inner.lines("list-clients")).length === 1);
  await inner.tmux("kill-session", "-t", "=roocode-shop-2");
  await eventually(() => existsSync(result));
  expect(read(result)).toEqual({ code: 1, said: ['The tmux session "roocode-shop-2" was closed before the lead had ended.'] });
});

test("the inside takes over all of the environment but what tells of the terminal, and the file is gone", async () => {
  await using folder = await tempFolder();
  const file = join(folder.path, "handover.json");
  const env = { KEY: "k", TMUX: "outer", TERM: "xterm" };
  writeFileSync(file, JSON.stringify({ version: 1, argv: ["team", "x"], cwd: "/", env }));
  expect(await takeHandover(file, { TMUX: "inner", TERM: "tmux", OTHER: "o" })).toEqual({
    argv: ["team", "x"],
    cwd: "/",
    env: { KEY: "k", TMUX: "inner", TERM: "tmux" },
  });
  await expect(takeHandover(file, {})).rejects.toThrow("There is no handover file");
});
