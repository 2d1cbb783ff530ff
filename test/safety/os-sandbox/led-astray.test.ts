import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { lstat, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { containedShell, sandboxDescribe } from "../../support/contained.ts";

const execute = promisify(execFile);

sandboxDescribe("a command in the OS sandbox can't", () => {
  test("end the agent, or keep it busy, by making and removing a guarded name as fast as it can", async () => {
    await using shell = await containedShell();
    await writeFile(
      join(shell.repo, "flood.cjs"),
      `const fs = require('fs'), until = Date.now() + 700;
       for (let n = 0; Date.now() < until; n++) try {
         if (n % 3 === 0) fs.mkdirSync('.mcp.json/deep', { recursive: true }); else fs.writeFileSync('.mcp.json', 'x');
         if (n % 2) fs.mkdirSync('.mcp.json.refused/' + n, { recursive: true });
         fs.rmSync('.mcp.json', { recursive: true });
       } catch {}
       fs.writeFileSync('.mcp.json', '{}')`,
    );
    const start = performance.now();
    const { text } = await shell.run(`${JSON.stringify(process.execPath)} flood.cjs`);
    expect(text).toContain(`the OS sandbox keeps ${join(shell.repo, ".mcp.json")}`);
    expect(existsSync(join(shell.repo, ".mcp.json"))).toBe(false);
    expect(performance.now() - start).toBeLessThan(8_000);
  });

  test("have files outside moved by a link on the way to a guarded name", async () => {
    await using shell = await containedShell({
      root: ({ home }) => home,
      prepare: async ({ home }) => {
        await mkdir(join(home, "..", "other", "systemd"), { recursive: true });
        await writeFile(join(home, "..", "other", "systemd", "unit"), "kept");
      },
    });
    const { text } = await shell.run("ln -s ../other .config && echo done");
    expect(text).toContain("done");
    expect(text).toContain("the OS sandbox keeps");
    expect(await readFile(join(shell.home, "..", "other", "systemd", "unit"), "utf8")).toBe("kept");
    expect(readdirSync(join(shell.home, "..", "other"))).toEqual(["systemd"]);
    expect(existsSync(join(shell.home, ".config"))).toBe(false);
  });

  for (const there of [true, false])
    test(`open a folder by a link in place of one of the settings that was ${there ? "" : "not "}there`, async () => {
      await using shell = await containedShell({
        settings: { writable: ["~/repo/deep/build", "~/late"] },
        root: ({ repo }) => join(repo, "src"),
        prepare: async ({ home, repo }) => {
          await mkdir(join(home, "private", "build"), { recursive: true });
          if (there) await mkdir(join(repo, "deep", "build"), { recursive: true });
        },
      });
      // What the person does, or a folder above that can be written to, stands for it.
      await shell.run("true");
      await rm(join(shell.repo, "deep"), { recursive: true, force: true });
      await symlink(join(shell.home, "private"), join(shell.repo, "deep"));
      expect((await shell.run("echo x > ~/private/build/escaped")).isError).toBe(true);
      expect(existsSync(join(shell.home, "private", "build", "escaped"))).toBe(false);
      await mkdir(join(shell.home, "late"));
      expect((await shell.run("echo x > ~/late/new")).isError).toBe(false);
    });

  test("have a git outside write where it wants, or wait for ever, by what it leaves in the git folder", async () => {
    await using shell = await containedShell({
      prepare: async ({ home, repo }) => {
        await writeFile(join(home, ".bashrc"), "# mine\n");
        await symlink("HEAD", join(repo, ".git", "ORIG_HEAD"));
      },
    });
    const { text } = await shell.run(
      "rm -f .git/logs/HEAD .git/COMMIT_EDITMSG; ln -s ~/.bashrc .git/logs/HEAD; ln -s ~/.profile .git/COMMIT_EDITMSG; mkfifo .git/MERGE_MSG; ln -sf ~ .git/refs/heads/x",
    );
    expect(text).toContain(join(shell.repo, ".git/logs/HEAD"));
    for (const name of ["logs/HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "refs/heads/x"])
      expect(await lstat(join(shell.repo, ".git", name)).catch(() => undefined)).toBeUndefined();
    // A link that was there before is the person's.
    expect((await lstat(join(shell.repo, ".git", "ORIG_HEAD"))).isSymbolicLink()).toBe(true);
    await execute("git", ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-qm", "x; evil"], { cwd: shell.repo });
    expect(await readFile(join(shell.home, ".bashrc"), "utf8")).toBe("# mine\n");
    expect(existsSync(join(shell.home, ".profile"))).toBe(false);
  });
});
