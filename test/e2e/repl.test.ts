import { existsSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Answer } from "../../src/interaction/demo/conversation.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel, inOrder, PROTOCOLS } from "../support/fake-model.ts";
import { childEnvironment, testHome } from "../support/home.ts";
import { tmuxDescribe } from "../support/in-tmux.ts";
import { assertSessionLegal } from "../support/proxy.ts";
import { openRepl } from "../support/repl.ts";
import { tmuxSocket } from "../support/tmux-server.ts";

const LONG = 90_000;
const BYPASS = { args: ["--permission-mode", "bypassPermissions"] };
/** Runs until the file `go` is there. */
const WAIT: Answer = {
  text: "I wait.",
  calls: [{ name: "Bash", input: { command: "touch started; until [ -e go ]; do sleep 0.02; done; echo went" } }],
};

type Repl = Awaited<ReturnType<typeof openRepl>>;

/** The model's first answer is WAIT, and its command runs. */
async function begin(repl: Repl): Promise<void> {
  await repl.type("begin");
  await eventually(() => existsSync(join(repl.home.repo, "started")));
}

async function letGo(repl: Repl): Promise<void> {
  await repl.socket.tmux("run-shell", `touch ${join(repl.home.repo, "go")}`);
}

async function exit(repl: Repl): Promise<void> {
  await repl.type("/exit");
  await repl.sees("ended with 0");
}

tmuxDescribe("the line REPL in a real pane", { timeout: LONG }, () => {
  test.each(PROTOCOLS)("what is typed during a run goes in behind the results of the round, over %s", async (protocol) => {
    await using repl = await openRepl(inOrder(WAIT, { text: "I saw it." }), { ...BYPASS, protocol });
    await begin(repl);
    await repl.type("and be quick");
    await repl.sees("It goes in with the next round");
    await repl.type("wrong words");
    await repl.type("/queue");
    await repl.sees("2. wrong words");
    await repl.type("/queue edit 2 right words");
    await repl.sees("2. right words");
    await repl.type("/queue drop 1");
    await repl.sees(/^1\. right words/m);
    await repl.home.roocode(["--version"]);
    await letGo(repl);
    await repl.sees("I saw it.");
    await repl.sees("→ right words");
    const body = JSON.parse(repl.model.proxy.captures[1]?.body ?? "");
    expect(JSON.stringify(body.messages.at(-1))).toContain("right words");
    expect(JSON.stringify(body.messages)).not.toContain("be quick");
    const [session] = await repl.home.sessions();
    await assertSessionLegal(session ?? "");
    await exit(repl);
  });

  test("Esc stops a running command at once; what waited is sent then, and the session is whole", async () => {
    await using repl = await openRepl(inOrder(WAIT, { text: "Now to your words." }), BYPASS);
    await begin(repl);
    await repl.type("do something else");
    await repl.sees("It goes in with");
    await repl.key("Escape");
    await repl.sees("Now to your words.");
    const body = JSON.parse(repl.model.proxy.captures[1]?.body ?? "");
    expect(JSON.stringify(body.messages.at(-3))).toContain("interrupted by the user");
    expect(JSON.stringify(body.messages.at(-1))).toContain("do something else");
    await exit(repl);
    const [session] = await repl.home.sessions();
    await assertSessionLegal(session ?? "");
  });

  test("T-05: Ctrl+C stops a tool and keeps the session, clears a line, and ends only when it comes twice", async () => {
    await using repl = await openRepl(inOrder(WAIT, { text: "Still here." }), BYPASS);
    await begin(repl);
    await repl.key("C-c");
    await repl.sees("Interrupted.");
    await repl.prompt();
    await repl.socket.tmux("send-keys", "-t", repl.pane, "-l", "half a thought");
    await repl.sees("> half a thought");
    await repl.key("C-c");
    await repl.prompt();
    await repl.key("Up");
    await repl.sees("> half a thought");
    await repl.key("Enter");
    await repl.sees("Still here.");
    await repl.prompt();
    await repl.key("C-c");
    await repl.sees("Ctrl+C once more");
    await repl.key("C-c");
    await repl.sees("Go on later with: roocode --resume");
    await repl.sees("ended with 0");
  });

  test("Ctrl+B sends a running command to the background and the run goes on without it", async () => {
    await using repl = await openRepl(inOrder(WAIT, { text: "I go on." }), BYPASS);
    await begin(repl);
    await repl.key("C-b");
    await repl.sees("Sent a command to the background.");
    await repl.sees("I go on.");
    expect(repl.model.proxy.captures[1]?.body).toContain("it runs on as job-1");
    await exit(repl);
  });

  test("a command that can't run beside the agent waits and runs when it is done, before what was typed behind it", async () => {
    await using repl = await openRepl(inOrder(WAIT, { text: "First done." }, { text: "Second done." }), BYPASS);
    await begin(repl);
    await repl.type("/model claude-opus-5-5");
    await repl.sees("/model runs when the agent is done.");
    await repl.type("go on");
    await repl.type("/exit");
    await repl.type("/queue");
    await repl.sees("3. /exit");
    await letGo(repl);
    await repl.sees("First done.");
    await repl.sees("Model anthropic/claude-opus-5-5.");
    await repl.sees("Second done.");
    await repl.sees("ended with 0");
    const bodies = repl.model.proxy.captures.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ model }) => model)).toEqual([
      expect.stringContaining("sonnet"),
      expect.stringContaining("sonnet"),
      "claude-opus-5-5",
    ]);
  });

  test("commands tell of model, mode and cost, and an unknown one is named", async () => {
    await using repl = await openRepl(inOrder({ text: "Hello." }));
    await repl.type("/model claude-opus-5-5");
    await repl.sees("Model anthropic/claude-opus-5-5.");
    await repl.type("hi");
    await repl.sees("Hello.");
    expect(JSON.parse(repl.model.proxy.captures[0]?.body ?? "").model).toBe("claude-opus-5-5");
    await repl.type("/mode plan");
    await repl.sees("Mode plan.");
    await repl.key("BTab");
    // No key leads to the mode that asks for nothing.
    await repl.sees("Mode default.");
    await repl.type("!printf 'one\\ntwo\\nthree\\n'; exit 3");
    await repl.sees(/one\s+two\s+three/);
    await repl.type("/nonsense");
    await repl.sees("There is no command /nonsense.");
    await repl.type("/cost");
    await repl.sees(/\d+ tokens in/);
  });

  test("Esc stops /compact, and a command that fails is a line and not the end", async () => {
    const stop = new AbortController();
    const held = async () => {
      await setTimeout(LONG, undefined, { signal: stop.signal }).catch(() => undefined);
      return { text: "Too late." };
    };
    await using repl = await openRepl(({ rounds }) => (rounds === 0 ? { text: `${"word ".repeat(8_000)}Hello.` } : held()));
    try {
      await repl.type("hi");
      await repl.sees("Hello.");
      await repl.prompt();
      await repl.type("/compact");
      await eventually(() => repl.model.requests.length > 1);
      await repl.key("Escape");
      await repl.sees("Interrupting …");
      await repl.prompt();
      await repl.type("/forget");
      await repl.sees("Say which memory");
      await repl.type("/exit");
      await repl.sees("ended with 0");
    } finally {
      stop.abort();
    }
  });

  test("/rewind brings files back, by whatever they were changed, leaves the person's own alone, and the conversation goes on from there", async () => {
    const script = inOrder(
      { calls: [{ name: "Bash", input: { command: "printf changed > README.md; printf made > made.txt" } }] },
      { text: "First done." },
      { calls: [{ name: "Bash", input: { command: "printf again > README.md" } }] },
      { text: "Second done." },
      { text: "Other way." },
    );
    await using repl = await openRepl(({ steps, ...rest }) => {
      const isAfter = steps.some((step) => step.type === "words" && step.text.endsWith("third"));
      return isAfter ? { text: "Other way." } : script({ steps, ...rest });
    }, BYPASS);
    const before = await readFile(join(repl.home.repo, "README.md"), "utf8");
    await repl.type("first");
    await repl.sees("First done.");
    await repl.prompt();
    await writeFile(join(repl.home.repo, "mine.txt"), "the person's");
    await repl.type("second");
    await repl.sees("Second done.");
    await repl.prompt();
    await repl.key("Escape");
    await setTimeout(100);
    await repl.key("Escape");
    await repl.sees("2  second");
    await repl.type("1");
    await repl.sees("~ README.md");
    await repl.sees("+ made.txt");
    await repl.sees(/stay as they are:\s+\+ mine.txt/);
    await repl.type("b");
    await repl.sees("The conversation is what it was before message 1.");
    expect(await readFile(join(repl.home.repo, "README.md"), "utf8")).toBe(before);
    expect(existsSync(join(repl.home.repo, "made.txt"))).toBe(false);
    expect(await readFile(join(repl.home.repo, "mine.txt"), "utf8")).toBe("the person's");
    await repl.type("third");
    await repl.sees("Other way.");
    expect(JSON.parse(repl.model.proxy.captures.at(-1)?.body ?? "").messages).toHaveLength(1);
    const [session = ""] = await repl.home.sessions();
    await exit(repl);
    await assertSessionLegal(session);
  });

  test("of three lines that are pasted the last one stands unsent at the prompt, below all answers", async () => {
    await using repl = await openRepl(inOrder({ text: "Answer one." }, { text: "Answer two." }));
    await repl.socket.tmux("set-buffer", "first line\nsecond line\nthird line");
    await repl.socket.tmux("paste-buffer", "-t", repl.pane);
    await repl.sees("Answer two.");
    await repl.sees(/^. third line\s*$(?![\s\S]*\S)/m);
    expect(await repl.screen()).not.toMatch(/third line.*Answer/);
  });

  test("a command that fails is one line, and the session goes on", async () => {
    await using repl = await openRepl(
      inOrder({ calls: [{ name: "WriteFile", input: { path: "new.txt", content: "x" } }] }, { text: "Done." }),
      BYPASS,
    );
    await repl.type("begin");
    await repl.sees("Done.");
    await repl.prompt();
    const [session = ""] = await repl.home.sessions();
    const store = join(session, "..", "..", "checkpoints.git");
    await rm(store, { recursive: true });
    await writeFile(store, "");
    await repl.type("/rewind 1");
    await repl.sees("failed (exit 128): fatal:");
    await repl.prompt();
    await repl.type("/cost");
    await repl.sees("tokens in");
  });

  test("/jobs shows what runs in the background and ends it; /permissions lists what was decided and explains one", async () => {
    const command = "echo tick; exec sleep 300";
    await using repl = await openRepl(
      inOrder({ calls: [{ name: "Bash", input: { command, run_in_background: true } }] }, { text: "It runs." }),
      BYPASS,
    );
    await repl.type("/jobs");
    await repl.sees("Nothing was sent to the background.");
    await repl.type("begin");
    await repl.sees("It runs.");
    await repl.prompt();
    await repl.type("/jobs");
    await repl.sees(/job-1: running for \d+ s: echo tick; exec sleep 300\s+tick/);
    await repl.type("/jobs stop job-1");
    await repl.sees("Stopped job-1 with all that it had started.");
    await repl.type("/jobs");
    await repl.sees(/job-1: stopped, after \d+ s/);
    await repl.type("/permissions");
    await repl.sees(/^ {2}1 .* allow mode {2}Bash\(echo tick; exec sleep 300\)/m);
    await repl.type("/permissions last");
    await repl.sees("Decision:    allow, layer mode: command is allowed in mode bypassPermissions");
    await repl.type("/permissions 7");
    await repl.sees("Decisions in this session: 1.");
  });

  test.each(["plain", "full"] as const)(
    "a terminal that goes away ends commands, saves the session and leaves no lock and no folder behind (%s)",
    async (screen) => {
      const command = "echo $$ > pid; exec sleep 300";
      await using repl = await openRepl(
        inOrder({ calls: [{ name: "Bash", input: { command, run_in_background: true } }] }, { text: "It runs." }),
        { ...BYPASS, screen },
      );
      await repl.type("begin");
      await repl.sees(/^It runs\./m);
      if (screen === "plain") await repl.prompt();
      const [session = ""] = await repl.home.sessions();
      const beside = async () => (await readdir(join(session, ".."))).filter((name) => name.includes(".lock"));
      expect(await beside()).toHaveLength(1);
      await repl.socket.tmux("kill-server");
      await eventually(async () => (await beside()).length === 0);
      expect(await readFile(session, "utf8")).toContain("It runs.");
      expect(existsSync(join(repl.home.repo, ".roocode"))).toBe(false);
    },
  );

  test.each(["plain", "full"])(
    "and its exit code is its own, not that of a Node which can't set back a terminal that is gone (%s)",
    async (wish) => {
      await using home = await testHome();
      await using socket = await tmuxSocket();
      await using model = await fakeModel(inOrder({ text: "Hello." }));
      const env = Object.entries({ ...childEnvironment(home.home), ...model.env("anthropic"), ROOCODE_SCREEN: wish }).flatMap((one) => [
        "-e",
        one.join("="),
      ]);
      const bin = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);
      const errors = join(home.home, "errors");
      const code = join(home.home, "code");
      const command = `trap "" HUP; ${process.execPath} ${bin} 2>${errors}; echo $? >${code}`;
      const pane = await socket.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", "-c", home.repo, ...env, command);
      await eventually(async () => /^>|of the window/m.test(await socket.tmux("capture-pane", "-p", "-t", pane)), 30_000);
      await socket.tmux("kill-server");
      await eventually(() => existsSync(code), 20_000);
      expect([await readFile(code, "utf8"), await readFile(errors, "utf8")]).toEqual(["0\n", ""]);
    },
  );
});
