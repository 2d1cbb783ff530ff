import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { processStart } from "../../../src/platform/process.ts";
import type { TeammateInfo } from "../../../src/protocol/team.ts";
import { commandTerminal } from "../../../src/team/backends/command.ts";
import { iterm2Terminal } from "../../../src/team/backends/iterm2.ts";
import { scriptedBackend, type Terminal } from "../../../src/team/backends/scripted.ts";
import { eventually } from "../../support/eventually.ts";
import { tempFolder } from "../../support/temp.ts";
import { sampleMember } from "../bus/sample-team.ts";

const FAKE = fileURLToPath(new URL("../../fixtures/tools/fake-it2", import.meta.url));
/** Reports its pid, folder and argument, and goes on without a terminal. */
const WORKER = ["/bin/sh", "-c", 'printf "%s\\n" "$$" "$(pwd)" "$2" > "$1.tmp"; mv "$1.tmp" "$1"; exec sleep 600', "worker"];

/** The fake it2 on PATH, with what it was called with. */
function iterm(folder: string, mode: string, session: string | undefined = "w0t0p0:LEAD") {
  const bin = join(folder, "bin");
  const log = join(folder, "it2.jsonl");
  mkdirSync(bin, { recursive: true });
  copyFileSync(FAKE, join(bin, "it2"));
  chmodSync(join(bin, "it2"), 0o755);
  const env = { PATH: [bin, process.env.PATH].join(delimiter), FAKE_IT2_LOG: log, FAKE_IT2_MODE: mode };
  const calls = (): string[][] =>
    existsSync(log)
      ? readFileSync(log, "utf8")
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line).argv)
      : [];
  return { terminal: iterm2Terminal({ ...env, ...(session ? { ITERM_SESSION_ID: session } : {}) }), calls };
}

/** The backend with workers that only report that they live. */
function team(folder: { path: string }, terminal: Terminal, readyWithinMs = 15_000) {
  const members = new Map<string, TeammateInfo>();
  const readyFile = (name: string) => join(folder.path, `${name}.ready`);
  const backend = scriptedBackend({
    terminal,
    folderOf: (name) => join(folder.path, "log", `${name}.pane`),
    memberWith: async (paneId) => [...members.values()].find((member) => member.paneId === paneId),
    untilReady: async ({ name }, isGone) => {
      const until = Date.now() + readyWithinMs;
      while (!existsSync(readyFile(name))) {
        const how = await isGone();
        if (how !== undefined) throw new Error(how);
        if (Date.now() > until) throw new Error("it did not report ready in time");
        await sleep(20);
      }
    },
    againAfterMs: 300,
  });
  return {
    backend,
    pid: (name: string) => Number(readFileSync(readyFile(name), "utf8").split("\n", 1)[0]),
    async spawn(name: string, command?: readonly string[]): Promise<string> {
      rmSync(readyFile(name), { force: true });
      const worktreePath = join(folder.path, "my work é", name);
      mkdirSync(worktreePath, { recursive: true });
      const member = { ...sampleMember(name), worktreePath };
      const paneId = await backend.spawn(member, command ?? [...WORKER, readyFile(name), "a'b $HOME"], "");
      const pid = Number(readFileSync(readyFile(name), "utf8").split("\n", 1)[0]);
      members.set(name, { ...member, paneId, process: { pid, startedAt: processStart(pid) ?? "" } });
      return paneId;
    },
    report: (name: string) => readFileSync(readyFile(name), "utf8").trimEnd().split("\n"),
  };
}

describe("teammates in panes of iTerm2, by a stand-in for it2", () => {
  test("panes are opened beside the lead, named, started by one short line, and closed with all that runs in them", async () => {
    await using folder = await tempFolder("iterm2");
    const { terminal, calls } = iterm(folder.path, "ok");
    const { backend, spawn, pid, report } = team(folder, terminal);
    const alice = await spawn("alice");
    const bob = await spawn("bob");
    expect(report("alice").slice(1)).toEqual([join(folder.path, "my work é", "alice"), "a'b $HOME"]);
    const lines = calls().map((argv) => argv.join(" "));
    expect(lines.filter((line) => line.startsWith("session split"))).toEqual(["session split -v -s LEAD", `session split -s ${alice}`]);
    expect(lines).toContain(`session set-name bob -s ${bob}`);
    expect(lines.filter((line) => line === "session focus LEAD")).toHaveLength(2);
    const typed = calls().filter(([, what]) => what === "run");
    expect(typed).toHaveLength(2);
    for (const argv of typed) expect(argv.join(" ").length).toBeLessThan(4_000);
    expect(await backend.state(alice)).toEqual({ alive: true });
    const alicePid = pid("alice");
    await backend.kill(alice);
    expect(processStart(alicePid)).toBeUndefined();
    expect(calls().at(-1)).toEqual(["session", "close", "-f", "-s", alice]);
    expect(await backend.state(alice)).toMatchObject({ alive: false });
    expect(await backend.state(bob)).toEqual({ alive: true });
    // A third pane goes under the last that is there.
    const carol = await spawn("carol");
    expect(calls().map((argv) => argv.join(" "))).toContain(`session split -s ${bob}`);
    await backend.kill(bob);
    await backend.kill(carol);
  }, 60_000);

  test("mode slow: a start takes its time, and is no other", async () => {
    await using folder = await tempFolder("iterm2");
    const { terminal, calls } = iterm(folder.path, "slow");
    const { backend, spawn } = team(folder, terminal);
    const alice = await spawn("alice");
    expect(calls().filter(([, what]) => what === "run")).toHaveLength(1);
    await backend.kill(alice);
  }, 30_000);

  test("mode lost: the line is typed once more, and then the start is given up", async () => {
    await using folder = await tempFolder("iterm2");
    const { terminal, calls } = iterm(folder.path, "lost");
    await expect(team(folder, terminal, 1_500).spawn("alice")).rejects.toThrow("did not report ready in time");
    expect(calls().filter(([, what]) => what === "run")).toHaveLength(2);
    expect(calls().filter(([, what]) => what === "close")).toHaveLength(1);
  });

  test("mode refused: one line with the mend", async () => {
    await using folder = await tempFolder("iterm2");
    const { terminal } = iterm(folder.path, "refused");
    await expect(team(folder, terminal).spawn("alice")).rejects.toThrow(
      "it2: Error: could not connect to iTerm2 (is the Python API enabled?). Switch it on in iTerm2: Settings, General, Magic, Enable Python API. Or choose --backend tmux or process.",
    );
  });

  test("another program of the name it2 is told, and so is one that is not there", async () => {
    await using folder = await tempFolder("iterm2");
    const { terminal } = iterm(folder.path, "ok");
    writeFileSync(join(folder.path, "bin", "it2"), "#!/bin/sh\necho usage: it2 something\n", { mode: 0o755 });
    await expect(team(folder, terminal).spawn("alice")).rejects.toThrow('is another program (it says "usage: it2 something")');
    await expect(team(folder, iterm2Terminal({ PATH: folder.path })).spawn("alice")).rejects.toThrow("There is no it2 on PATH");
  });

  test("T12: a worker that ends at once is an error with its exit status and last words", async () => {
    await using folder = await tempFolder("iterm2");
    const { terminal, calls } = iterm(folder.path, "ok");
    const { spawn } = team(folder, terminal);
    await expect(spawn("alice", ["/bin/sh", "-c", "sleep 0.2; echo boom >&2; exit 3"])).rejects.toThrow(
      "it ended with exit status 3. Its last lines:\nboom",
    );
    expect(calls().at(-1)?.slice(0, 2)).toEqual(["session", "close"]);
  });
});

describe("teammates in panes that the person's own commands open", () => {
  test("the words are filled in, the last line printed is the pane, and closing gets it", async () => {
    await using folder = await tempFolder("command");
    const closed = join(folder.path, "closed");
    // A terminal of two lines: it starts what it is given, prints a greeting and the id.
    const open = [
      "/bin/sh",
      "-c",
      'cd "$1" && echo "opening $2" && shift 2 && ("$@" <&- >/dev/null 2>&1 &) && echo 17',
      "open",
      "{cwd}",
      "{title}",
      "{command}",
    ];
    const close = ["/bin/sh", "-c", 'echo "$1" >> "$2"', "close", "{pane}", closed];
    const { backend, spawn, pid, report } = team(folder, commandTerminal({ open, close }, "shop", { PATH: process.env.PATH }));
    expect(await spawn("alice")).toBe("17");
    expect(report("alice").slice(1)).toEqual([join(folder.path, "my work é", "alice"), "a'b $HOME"]);
    expect(await backend.state("17")).toEqual({ alive: true });
    const alicePid = pid("alice");
    process.kill(alicePid, "SIGKILL");
    await eventually(async () => "status" in (await backend.state("17")));
    expect(await backend.state("17")).toEqual({ alive: false, status: 137 });
    await backend.kill("17");
    expect(readFileSync(closed, "utf8")).toBe("17\n");
  });

  test("a command that fails, is not there or does not end is one line", async () => {
    await using folder = await tempFolder("command");
    const spawn = (open: readonly string[]) => team(folder, commandTerminal({ open }, "shop", { PATH: process.env.PATH })).spawn("alice");
    await expect(spawn(["/bin/sh", "-c", "echo no display >&2; exit 4", "{command}"])).rejects.toThrow(
      "team.pane.open: /bin/sh ended with exit status 4: no display",
    );
    await expect(spawn(["no-such-terminal", "{command}"])).rejects.toThrow("team.pane.open: there is no program no-such-terminal.");
  });
});
