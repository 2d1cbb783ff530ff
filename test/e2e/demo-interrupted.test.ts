import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../src/platform/process.ts";
import { childEnvironment, testHome } from "../support/home.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);

test("a demo that is interrupted leaves its sample as it began, and says that it can't be gone on with", async () => {
  await using home = await testHome();
  const dir = join(home.home, "sample");
  const env = { ...childEnvironment(home.home), TMPDIR: home.home };
  const child = spawn(process.execPath, [BIN, "demo", "--dir", dir, "--backend", "process"], { env, stdio: ["ignore", "pipe", "pipe"] });
  let shown = "";
  let isSent = false;
  child.stdout.on("data", (bytes) => {
    shown += bytes;
    // A second one would end the lead at once.
    if (!isSent && /is ready \(pid/.test(shown)) isSent = child.kill("SIGINT");
  });
  const [code] = await once(child, "exit");
  expect(code).toBe(130);
  expect(shown).toContain("The demo was interrupted. Its scripted model is gone with it");
  expect(shown).not.toContain("The sample's tests pass");
  expect(shown).not.toContain("roocode team resume");
  const git = async (...args: string[]) => (await runCommand("git", args, { cwd: dir })).stdout.trim();
  expect(await git("branch", "--format=%(refname:short)")).toBe("main");
  expect((await git("worktree", "list")).split("\n")).toHaveLength(1);
}, 60_000);
