import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { processesWithEnvironment } from "../../../src/platform/process-tree.ts";
import { containedShell, sandboxDescribe } from "../../support/contained.ts";
import { eventually } from "../../support/eventually.ts";

const AUTHOR = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
const GIT_WORK = `${AUTHOR}
set -e
echo one > one; git add one; git commit -qm one
git branch side HEAD~1; git checkout -q -b other side
echo two > two; git add two; git commit -qm two
git merge -q --no-edit -
echo three >> one; git stash -q; git stash pop -q; git commit -qam three
git checkout -q -b rebased side; echo four > four; git add four; git commit -qm four
git rebase -q other
git branch -D side
git pack-refs --all; git gc -q; git branch -d other
git log --oneline | wc -l; git status --short`;

sandboxDescribe("a command in the OS sandbox", () => {
  for (const root of ["repo", "worktree"] as const)
    test(`commits, branches, merges, stashes, rebases and packs in a ${root === "repo" ? "plain checkout" : "worktree"}`, async () => {
      await using shell = await containedShell({ root: (place) => place[root] });
      const { text, isError } = await shell.run(GIT_WORK);
      expect(isError, text).toBe(false);
      expect(text).toMatch(/^6$/m);
    });

  test("writes in its checkout, runs programs, keeps its folder and gives its exit code", async () => {
    await using shell = await containedShell();
    expect((await shell.run(`echo hello > new && ${JSON.stringify(process.execPath)} -p 1+1`)).text).toBe("2");
    expect(await readFile(join(shell.repo, "new"), "utf8")).toBe("hello\n");
    expect((await shell.run("cd src")).text).toContain(`[working folder: ${join(shell.repo, "src")}]`);
    expect((await shell.run("pwd; exit 7")).text).toMatch(/\/repo\/src\n\[exit code 7\]/);
    expect((await shell.run("kill -SEGV $$")).text).toContain("ended by signal SEGV");
  });

  test("has a temporary folder of its own that lasts from one command to the next and goes with the agent", async () => {
    const shell = await containedShell();
    await shell.run("echo kept > $TMPDIR/roocode-kept");
    expect((await shell.run("cat /tmp/roocode-kept; ls -A /var/tmp")).text).toContain("kept");
    expect(existsSync("/tmp/roocode-kept")).toBe(false);
    await shell[Symbol.asyncDispose]();
  });

  test("prints as much as it likes", async () => {
    await using shell = await containedShell();
    expect((await shell.run("seq 1 300000; echo the end")).text).toContain("the end");
  });

  test("is stopped by its time limit with all that it started, and may tidy up first", async () => {
    await using shell = await containedShell();
    const { text } = await shell.run("trap 'echo tidy > tidied; exit' TERM; setsid sleep 300 & sleep 300 & wait", { timeout: 1500 });
    expect(text).toContain("timeout: stopped after 1500 ms");
    expect(await readFile(join(shell.repo, "tidied"), "utf8")).toBe("tidy\n");
    expect(processesWithEnvironment("TEST_SHELL", shell.env.TEST_SHELL ?? "-")).toEqual([]);
  });

  test("that is stopped by the person leaves nothing, however it hides", async () => {
    await using shell = await containedShell();
    const stop = new AbortController();
    const running = shell.run(
      "(setsid nohup sleep 300 >/dev/null 2>&1 &) ; trap '' TERM; echo > begun; while :; do sleep 1; done",
      {},
      stop.signal,
    );
    await eventually(() => existsSync(join(shell.repo, "begun")));
    stop.abort();
    expect((await running).text).toContain("interrupted");
    expect(processesWithEnvironment("TEST_SHELL", shell.env.TEST_SHELL ?? "-")).toEqual([]);
  });

  test("runs in the background, is sent there, and ends with the agent", async () => {
    const shell = await containedShell();
    expect((await shell.run("echo > one; sleep 300", { run_in_background: true })).text).toContain("job-1");
    const second = shell.run("echo > two; sleep 300");
    await eventually(() => existsSync(join(shell.repo, "one")) && existsSync(join(shell.repo, "two")));
    expect(shell.state.toBackground()).toBe(1);
    expect((await second).text).toContain("job-2");
    const mark = shell.env.TEST_SHELL ?? "-";
    expect(processesWithEnvironment("TEST_SHELL", mark).length).toBeGreaterThan(1);
    await shell[Symbol.asyncDispose]();
    expect(processesWithEnvironment("TEST_SHELL", mark)).toEqual([]);
  });

  test("runs beside others of the same agent", async () => {
    await using shell = await containedShell();
    const results = await Promise.all([1, 2, 3].map((number) => shell.run(`echo ${number} > file-${number}; cat file-${number}`)));
    expect(results.map(({ text }) => text)).toEqual(["1", "2", "3"]);
    expect(existsSync(join(shell.repo, ".roocode"))).toBe(false);
  });

  test("may write where the settings say, and its plans, but no other settings", async () => {
    await using shell = await containedShell({
      settings: { writable: ["~/cache"] },
      prepare: async ({ home, repo }) => {
        await mkdir(join(home, "cache"));
        await mkdir(join(repo, ".roocode", "plans"), { recursive: true });
        await writeFile(join(repo, ".roocode", "config.yaml"), "");
      },
    });
    const { text } = await shell.run("echo a > ~/cache/a; echo p > .roocode/plans/p; echo x > .roocode/config.yaml");
    expect(text).toContain("config.yaml: Read-only file system");
    expect(existsSync(join(shell.home, "cache/a"))).toBe(true);
    expect(existsSync(join(shell.repo, ".roocode/plans/p"))).toBe(true);
  });

  test("of who merges may bring other settings of the project", async () => {
    await using shell = await containedShell({ root: ({ worktree }) => worktree, isMerging: true });
    expect((await shell.run("mkdir .roocode && echo x > .roocode/config.yaml; git config a.b c")).text).toContain(
      "could not write config file",
    );
    expect(existsSync(join(shell.worktree, ".roocode/config.yaml"))).toBe(true);
  });

  test("reaches the network where the settings open it, and still no socket of the machine", async () => {
    await using shell = await containedShell({ settings: { network: "on" } });
    expect((await shell.run("ls /sys/class/net | wc -l; cat /proc/net/dev | wc -l; ls -A /run")).isError).toBe(false);
    expect(Number((await shell.run("grep -c : /proc/net/dev")).text)).toBeGreaterThan(0);
  });

  test("runs outside by a word of the call, or where the settings exclude it", async () => {
    await using shell = await containedShell({ settings: { excluded: ["touch *outside"] } });
    expect((await shell.run("touch ~/one", { unsandboxed: true })).isError).toBe(false);
    expect((await shell.run("touch ~/two-outside")).isError).toBe(false);
    expect((await shell.run("touch ~/three")).isError).toBe(true);
    expect([await shell.containment?.contains("touch ~/two-outside"), await shell.containment?.contains("touch ~/three")]).toEqual([
      false,
      true,
    ]);
  });
});
