import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { hold } from "../../../src/team/backends/tmux-panes.ts";

test.each([
  ["a PATH", process.env.PATH],
  ["no PATH that has a sleep", "/nowhere"],
])("a pane that waits for its program outlives what is typed, and ends with its maker: with %s", async (_which, path) => {
  const maker = spawn("cat", { stdio: ["pipe", "ignore", "ignore"] });
  const [program = "", ...args] = hold(maker.pid);
  const child = spawn(program, args, { env: { PATH: path }, stdio: ["pipe", "ignore", "inherit"], detached: true });
  const ended = once(child, "exit");
  // It may be over before it reads the last line.
  child.stdin.on("error", () => undefined);
  try {
    child.stdin.write("typed\n".repeat(20));
    await once(child, "spawn");
    expect(child.exitCode).toBeNull();
    maker.kill("SIGKILL");
    await once(maker, "exit");
    child.stdin.write("typed\n".repeat(20));
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
    maker.kill("SIGKILL");
    await ended;
  }
});
