import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { commandMark, endLeftCommands } from "../../src/team/left-commands.ts";

test("the commands of a member that was killed are ended, those of one whose name begins alike are not", async () => {
  const sleeper = (worktreePath: string) => spawn("sleep", ["300"], { env: { ...process.env, ...commandMark({ worktreePath }) } });
  const [al, alice] = [sleeper("/team/al"), sleeper("/team/alice")];
  try {
    const ended = once(al, "exit");
    await Promise.all([once(al, "spawn"), once(alice, "spawn")]);
    await endLeftCommands({ worktreePath: "/team/al" });
    await ended;
    expect(alice.exitCode ?? alice.signalCode).toBeNull();
  } finally {
    al.kill("SIGKILL");
    alice.kill("SIGKILL");
  }
});
