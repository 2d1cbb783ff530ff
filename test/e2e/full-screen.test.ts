import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { tmuxDescribe } from "../support/in-tmux.ts";
import { openRepl } from "../support/repl.ts";
import { tempFolder } from "../support/temp.ts";

const run = promisify(execFile);
const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const CALLS = [
  { name: "ReadFile", input: { path: "a.txt" } },
  undefined,
  { name: "WriteFile", input: { path: "new.txt", content: "fresh\n" } },
];
type Repl = Awaited<ReturnType<typeof openRepl>>;

const sttyOf = async ({ socket, pane }: Repl) =>
  (await run("stty", ["-a", "-F", await socket.tmux("display", "-p", "-t", pane, "#{pane_tty}")])).stdout.replace(
    /rows \d+; columns \d+;/,
    "",
  );

tmuxDescribe("the full screen in a terminal", () => {
  test("talks, asks, runs and shows what came of it", async () => {
    await using repl = await openRepl(
      ({ rounds }) => {
        if (rounds > 0) return { text: "There are **two** files." };
        return { calls: [{ name: "Bash", input: { command: "touch made.txt && echo 2 lines are there" } }] };
      },
      {
        screen: "full",
        prepare: async ({ home }) => {
          await mkdir(join(home, ".roocode"), { recursive: true });
          await writeFile(join(home, ".roocode", "config.yaml"), 'permissions: { ask: ["Bash(touch *)"] }\n');
        },
      },
    );
    expect(await repl.screen()).toMatch(/default · claude\S* · 0 % of the window · main/);
    await repl.type("How many files?");
    await repl.sees("main asks: Bash");
    await repl.sees("· touch made.txt");
    await repl.key("y");
    await repl.sees("There are two files.");
    await repl.sees(/● Bash\(touch made.txt && echo 2 lines are there\)\s+2 lines are there/);
    await repl.type("/exit");
    await repl.sees("ended with 0");
    expect(await repl.screen()).toContain("Go on later with: roocode --resume");
  });

  test("what would be changed in a file stands in the question, with the lines around it", async () => {
    const edit = { path: "a.txt", old_string: "two", new_string: "2\nand more" };
    await using repl = await openRepl(
      ({ rounds }) => ({ ...(rounds > 2 ? { text: "Done." } : { calls: [CALLS[rounds] ?? { name: "EditFile", input: edit }] }) }),
      { screen: "full", files: { "a.txt": "one\ntwo\nthree\n" } },
    );
    await repl.type("change it");
    await repl.sees(/main asks: EditFile\s+a\.txt\s[\s\S]*@@ -1,3 \+1,4 @@\s+one\s+-two\s+\+2\s+\+and more\s+three\s+❯ 1\. Yes/);
    await repl.key("y");
    await repl.sees(/main asks: WriteFile\s+new\.txt\s[\s\S]*@@ -0,0 \+1,1 @@\s+\+fresh\s+❯ 1\. Yes/);
    await repl.key("y");
    await repl.sees("Done.");
  });

  test("T-01: a paste of 200 lines in a real terminal is one prompt, and no line of it a command", async () => {
    await using repl = await openRepl(() => ({ text: "Read." }), { screen: "full" });
    const lines = Array.from({ length: 200 }, (_, index) => (index === 50 ? "/exit" : `line ${index}\tend`));
    const file = join(repl.home.home, "paste.txt");
    await writeFile(
      file,
      lines
        .map((line, index) => `${line}${index % 3 === 0 ? "\r\n" : "\n"}`)
        .join("")
        .trimEnd(),
    );
    await repl.socket.tmux("load-buffer", file);
    await repl.socket.tmux("paste-buffer", "-p", "-r", "-t", repl.pane);
    await repl.sees("[paste #1 +200 lines]");
    await repl.key("Enter");
    await repl.sees("Read.");
    const words = repl.model.requests[0]?.steps.flatMap((step) => (step.type === "words" ? [step.text] : []));
    expect(words?.join("\n")).toContain(lines.join("\n"));
  });

  test("T-05: Ctrl+C stops what runs within a second, clears what is typed, and twice on an empty input ends with a hint", async () => {
    await using repl = await openRepl(
      ({ rounds }) => (rounds > 0 ? { text: "Going on." } : { calls: [{ name: "Bash", input: { command: "sleep 100" } }] }),
      { screen: "full", args: ["--permission-mode", "bypassPermissions"] },
    );
    await repl.type("wait");
    await repl.sees("runs Bash");
    await repl.key("C-c");
    await repl.sees("Interrupted.");
    await repl.type("go on");
    await repl.sees("Going on.");
    await repl.socket.tmux("send-keys", "-t", repl.pane, "-l", "a draft");
    await repl.sees(/^a draft\s*$/m);
    await repl.key("C-c");
    await eventually(async () => !/^a draft\s*$/m.test(await repl.screen()));
    await repl.key("C-c");
    await repl.sees("Ctrl+C once more ends the session.");
    await repl.key("C-c");
    await repl.sees("ended with 0");
    expect(await repl.screen()).toContain("Go on later with: roocode --resume");
  });

  const kill = (signal: string) => async (repl: Repl) => {
    const shell = await repl.socket.tmux("display", "-p", "-t", repl.pane, "#{pane_pid}");
    const { stdout } = await run("pgrep", ["-P", shell]);
    await run("kill", [`-${signal}`, stdout.trim()]);
  };
  test.each<[string, (repl: Repl) => Promise<unknown>]>([
    ["/exit", (repl) => repl.type("/exit")],
    ["Ctrl+C twice", (repl) => repl.key("C-c", "C-c")],
    ["Ctrl+D", (repl) => repl.key("C-d")],
    ["TERM", kill("TERM")],
    ["HUP", kill("HUP")],
    ["an exception", kill("USR2")],
  ])("T-12: the terminal is as it was after %s", async (_, end) => {
    const thrower = "process.on('SIGUSR2', () => { throw new Error('from a test'); });";
    await using repl = await openRepl(() => ({ text: "Yes." }), {
      screen: "full",
      env: { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(thrower)}"` },
    });
    const bytes = join(repl.home.home, "bytes");
    await repl.socket.tmux("pipe-pane", "-t", repl.pane, `cat > ${bytes}`);
    expect(await sttyOf(repl)).toContain("-echo ");
    await repl.type("Are you there?");
    await repl.sees("Yes.");
    await end(repl);
    await repl.sees("ended with");
    expect(await sttyOf(repl)).toMatch(/ icanon .* echo /s);
    expect(await repl.socket.tmux("display", "-p", "-t", repl.pane, "#{cursor_flag} #{alternate_on}")).toBe("1 0");
    const written = await readFile(bytes, "utf8");
    for (const [on, off] of [
      ["\x1b[?2004h", "\x1b[?2004l"],
      ["\x1b[?25l", "\x1b[?25h"],
      ["\x1b[?2026h", "\x1b[?2026l"],
      ["\x1b[>4;1m", "\x1b[>4;0m"],
    ] as const)
      expect(written.lastIndexOf(off), off).toBeGreaterThanOrEqual(written.lastIndexOf(on));
  });

  test("T-12: Ctrl+Z gives the terminal back, and takes it again", async () => {
    await using repl = await openRepl(() => ({ text: "Yes." }), { screen: "full", shell: true });
    const isAsBefore = async (mark: string) => {
      await repl.type(`clear; stty -a | grep -c -- ' icanon.* echo ' | sed s/^/${mark}/`);
      await repl.sees(`${mark}1`);
    };
    await repl.key("C-z");
    await repl.sees("Stopped");
    await isAsBefore("first:");
    await repl.type("fg");
    await repl.sees(/^default · claude/m);
    await repl.type("Are you there?");
    await repl.sees("Yes.");
    await repl.key("C-z");
    await repl.sees("Stopped");
    await repl.type("kill -9 %1");
    await isAsBefore("second:");
  });

  test("/ completes commands and @ files", async () => {
    await using repl = await openRepl(() => ({ text: "Read." }), {
      screen: "full",
      files: { "src/deep/some-module.ts": "1\n", "a b.txt": "2\n" },
    });
    const letters = async (text: string) => repl.socket.tmux("send-keys", "-t", repl.pane, "-l", text);
    await letters("/perm");
    await repl.sees("→ /permissions");
    await repl.key("C-c");
    await letters("look at @smod");
    await repl.sees("src/deep/some-module.ts");
    await repl.key("Tab");
    await letters("and @ab");
    await repl.sees("a b.txt");
    await repl.key("Tab");
    await repl.sees('look at @src/deep/some-module.ts and @"a b.txt"');
  });

  test("!command runs in the person's shell, unasked, and the next message brings it and @files to the agent", async () => {
    await using repl = await openRepl(() => ({ text: "Seen." }), { screen: "full", files: { "notes.txt": "remember the milk\n" } });
    await repl.type("!echo from-$((40+2)) | tee made.txt");
    await repl.sees(/● Bash\(echo from.*\)\s+from-42/);
    expect(repl.model.requests).toHaveLength(0);
    await repl.type("what is in @notes.txt");
    await repl.sees("Seen.");
    const words = repl.model.requests[0]?.steps.flatMap((step) => (step.type === "words" ? [step.text] : [])).join("\n");
    expect(words).toContain("The person ran this in the shell before they wrote:\n$ echo from-$((40+2)) | tee made.txt\nfrom-42");
    expect(words).toContain('<file-content path="notes.txt">\n     1\tremember the milk\n</file-content>');
    await repl.type("and again");
    await repl.sees(/Seen\.[\s\S]*Seen\./);
    const last = repl.model.requests[1]?.steps.at(-1);
    expect(last).toMatchObject({ type: "words", text: expect.not.stringContaining("from-42") });
  });

  test("Ctrl+V and a pasted path attach images; a message with one that is sent meanwhile waits until the agent is done", async () => {
    await using programs = await tempFolder();
    for (const name of ["wl-paste", "xclip"])
      await writeFile(join(programs.path, name), `#!/bin/sh\necho ${PIXEL} | base64 -d\n`, { mode: 0o755 });
    await using repl = await openRepl(
      ({ rounds }) => (rounds === 1 ? { calls: [{ name: "Bash", input: { command: "sleep 3" } }] } : { text: `Seen ${rounds}.` }),
      {
        screen: "full",
        args: ["--permission-mode", "bypassPermissions"],
        env: { PATH: `${programs.path}:${process.env.PATH}` },
        prepare: async ({ home }) => {
          await writeFile(join(home, "dot.png"), Buffer.from(PIXEL, "base64"));
          await writeFile(join(home, "a dot.png"), Buffer.from(PIXEL, "base64"));
        },
      },
    );
    const imagesOf = (index: number) =>
      [...(repl.model.proxy.captures.at(index)?.body ?? "").matchAll(/"media_type":"image\/png","data":"([^"]+)"/g)].map(
        ([, data]) => data,
      );
    await repl.socket.tmux("set-buffer", `${join(repl.home.home, "a\\ dot.png")} '${join(repl.home.home, "dot.png")}'`);
    await repl.socket.tmux("paste-buffer", "-p", "-t", repl.pane);
    await repl.sees("[Image #1] [Image #2]");
    await repl.type("what are these?");
    await repl.sees("Seen 0.");
    expect(imagesOf(0)).toEqual([PIXEL, PIXEL]);
    await repl.type("work");
    await repl.sees("runs Bash");
    await repl.key("C-v");
    await repl.sees("[Image #3]");
    await repl.type("and this?");
    await repl.sees("It has an image, so it is sent when the agent is done.");
    await eventually(() => imagesOf(-1).length === 3);
    // Not with the round that was under way.
    expect(repl.model.proxy.captures.filter(({ body }) => body.includes("and this?")).length).toBe(1);
  });

  test("/theme changes the colours at once and for the next start, and leaves the rest of the settings as it was", async () => {
    await using repl = await openRepl(() => ({ text: "Use `tabs`." }), {
      screen: "full",
      prepare: async ({ home }) => {
        await mkdir(join(home, ".roocode"), { recursive: true });
        await writeFile(join(home, ".roocode", "config.yaml"), "# mine\nnotify: off # quiet\n");
      },
    });
    const colours = () => repl.socket.tmux("capture-pane", "-p", "-e", "-t", repl.pane);
    await repl.type("Tabs?");
    await repl.sees("Use tabs.");
    expect(await colours()).toMatch(/\x1b\[36m.*tabs/);
    await repl.type("/theme");
    await repl.sees(/❯ auto +the terminal's own colours, now/);
    await repl.socket.tmux("send-keys", "-t", repl.pane, "-l", "dalt");
    await repl.sees(/❯ daltonized/);
    await repl.key("Enter");
    await repl.sees("Theme daltonized, kept in");
    expect(await colours()).toMatch(/\x1b\[38;5;37m.*tabs/);
    const config = join(repl.home.home, ".roocode", "config.yaml");
    expect(await readFile(config, "utf8")).toBe("# mine\nnotify: off # quiet\ntheme: daltonized\n");
    await repl.type("/theme pink");
    await repl.sees('There is no theme "pink". Themes: auto, dark, light, daltonized, high-contrast, none.');
  });

  test("--resume without an id lets the person choose, shows where the conversation was, and goes on with it", async () => {
    await using repl = await openRepl(({ rounds }) => ({ text: `Answer **${rounds}**.` }), { screen: "full", shell: true });
    const start = async (flags: string) => {
      await repl.type(`clear; ROOCODE_SCREEN=full ${process.execPath} ${BIN} ${flags}`);
    };
    await repl.type("mend the login");
    await repl.sees("Answer 0.");
    await repl.type("/clear");
    await repl.sees("0 % of the window");
    await repl.type("write the docs");
    await repl.sees("Answer 0.");
    await repl.type("/exit");
    await repl.sees("Go on later with");
    await start("--resume");
    await repl.sees(/Which conversation shall go on\?\s+❯ just now +1 turn +write the docs\s.*\s+just now +1 turn +mend the login/);
    await repl.key("Escape");
    await repl.sees("No conversation was chosen.");
    await start("--resume");
    await repl.sees("Which conversation");
    await repl.key("Down", "Enter");
    await repl.sees(/^› mend the login\s+Answer 0\./m);
    await repl.type("and the logout");
    await repl.sees("Answer 1.");
    expect(repl.model.proxy.captures.at(-1)?.body).toContain("mend the login");
    await repl.type("/resume");
    await repl.sees(/❯ just now +1 turn +write the docs/);
    await repl.key("Enter");
    await repl.sees(/^› write the docs\s+Answer 0\.[\s\S]*of the window/m);
    await repl.type("/exit");
    await repl.sees(/Go on later with[\s\S]*Go on later with/);
  });

  test("the first words of the command line stand there, and no key leads to the mode that asks for nothing", async () => {
    await using repl = await openRepl(() => ({ text: "Hello." }), { screen: "full", args: ['"say hello"'] });
    await repl.sees(/› say hello\s+Hello\./);
    for (const mode of ["acceptEdits", "plan", "default", "acceptEdits"]) {
      await repl.key("BTab");
      await repl.sees(new RegExp(`^${mode} · `, "m"));
    }
    await repl.key("x");
    await eventually(async () => !(await repl.screen()).includes("Mode acceptEdits."));
    await repl.key("C-c");
    await repl.type("/mode bypassPermissions");
    await repl.sees(/^bypassPermissions · /m);
  });
});
