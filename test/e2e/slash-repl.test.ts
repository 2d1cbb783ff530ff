import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { tmuxDescribe } from "../support/in-tmux.ts";
import { openRepl } from "../support/repl.ts";
import { skillText } from "../support/skills.ts";

const LONG = 90_000;
const FILES = {
  ".roocode/skills/greet.md": skillText({ name: "greet", description: "Greets." }, "GREET $ARGUMENTS."),
  "README.md": "x\n",
};

tmuxDescribe("slash commands in a real pane", { timeout: LONG }, () => {
  test("a skill that is typed during a run waits and then runs; an unknown name is said at once; a path is a message", async () => {
    await using repl = await openRepl(
      ({ steps, rounds }) => {
        const said = steps.findLast((step) => step.type === "words" && step.from === "user");
        if (said?.type === "words" && said.text.includes("GREET Ann.")) return { text: "Hello Ann." };
        if (rounds === 0) return { calls: [{ name: "Bash", input: { command: "touch started; until [ -e go ]; do sleep 0.02; done" } }] };
        return { text: `Round ${rounds}.` };
      },
      { args: ["--permission-mode", "bypassPermissions"], files: FILES },
    );
    await repl.type("begin");
    await eventually(() => existsSync(join(repl.home.repo, "started")));
    await repl.type("/greet Ann");
    await repl.sees("/greet runs when the agent is done");
    await repl.type("/gret");
    await repl.sees("Did you mean /greet?");
    await repl.type("/skills");
    await repl.sees("- greet: Greets. (project)");
    await repl.type("/etc/hosts is wrong");
    await repl.sees("It goes in with the next round");
    await repl.socket.tmux("run-shell", `touch ${join(repl.home.repo, "go")}`);
    await repl.sees("Hello Ann.");
    // What was typed behind a command waits for it.
    await eventually(() => repl.model.proxy.captures.at(-1)?.body.includes("/etc/hosts is wrong") === true);
    await repl.prompt();
    await repl.type("/exit");
    await repl.sees("ended with 0");
  });

  test("/clear begins a new conversation, /resume lists the others and goes on with one", async () => {
    await using repl = await openRepl(({ rounds }) => ({ text: `Answer ${rounds}.` }), { files: FILES });
    await repl.type("first words");
    await repl.sees("Answer 0.");
    await repl.prompt();
    const [first] = await repl.home.sessions();
    const id = /([^/]+)\.jsonl$/.exec(first ?? "")?.[1] ?? "";
    await repl.type("/mode acceptEdits");
    await repl.sees("Mode acceptEdits.");
    await repl.type("/clear");
    await repl.sees(`Go on later with: roocode --resume ${id}`);
    await repl.sees(/mode acceptEdits, session/);
    expect(await repl.screen()).not.toContain("first words");
    await repl.prompt();
    await repl.type("second words");
    await eventually(() => repl.model.proxy.captures.length === 2);
    expect(repl.model.proxy.captures[1]?.body).not.toContain("first words");
    await repl.prompt();
    await repl.type("/resume");
    await repl.sees(new RegExp(` 1\\. just now +1 turn +first words  ${id.slice(0, 8)}`));
    await repl.type("1");
    await repl.sees(/> first words\s+Answer 0\./);
    await repl.sees(new RegExp(`session ${id}`));
    await repl.prompt();
    await repl.type("third words");
    await repl.sees("Answer 1.");
    const body = repl.model.proxy.captures[2]?.body ?? "";
    expect(body).toContain("first words");
    expect(body).not.toContain("second words");
    await repl.prompt();
    await repl.type("/resume third");
    await repl.sees('There is no session "third" of this project.');
    await repl.prompt();
    await repl.type("/resume SECOND");
    await repl.sees("> second words");
    await repl.prompt();
    await repl.type("/exit");
    await repl.sees("ended with 0");
    expect(await repl.home.sessions()).toHaveLength(2);
  });
});
