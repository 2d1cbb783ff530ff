import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Answer, Conversation } from "../../src/interaction/demo/conversation.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel, inOrder, PROTOCOLS } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { tmuxTest } from "../support/in-tmux.ts";
import { openRepl } from "../support/repl.ts";

const LONG = 90_000;
const LEARNED = [{ type: "feedback", name: "Short answers", description: "Wants answers of one line", body: "Said so on the first day." }];

function isForMemories({ steps }: Conversation): boolean {
  return steps[0]?.type === "words" && steps[0].text.includes("<person>");
}

/** Talks, and gives these memories when it is asked for some. */
function learning(memories: string): (conversation: Conversation) => Answer {
  return (conversation) => ({ text: isForMemories(conversation) ? memories : "Understood." });
}

describe("memories", { timeout: LONG }, () => {
  tmuxTest.each(PROTOCOLS)("what a turn taught is remembered beside the talk, and told to the next session, over %s", async (protocol) => {
    await using repl = await openRepl(learning(JSON.stringify(LEARNED)), { protocol });
    await repl.type("Please answer me in one line from now on.");
    await repl.sees("remembered: Short answers (feedback)");
    await repl.prompt();
    await repl.type("Thank you, and now tell me more about it.");
    await repl.sees(/(Understood\.[\s\S]*){2}/);
    await repl.type("/memory");
    await repl.sees("Wants answers of one line");
    await repl.type("/exit");
    await repl.sees("ended with 0");
    const bodies = repl.model.proxy.captures.map(({ body }) => JSON.parse(body));
    const [first, extraction, second, ...more] = bodies;
    // Not after each turn, and with nothing of the conversation's own beginning.
    expect(more).toEqual([]);
    expect(JSON.stringify(extraction)).toContain("Please answer me in one line");
    expect(extraction.tools ?? []).toEqual([]);
    expect(extraction.model).toBe(protocol === "anthropic" ? "claude-haiku-5-5" : "gpt-5.6-luna");
    expect(second.messages.length).toBeGreaterThan(first.messages.length);

    const next = await repl.home.roocode(["-p", "hi"], { env: repl.model.env(protocol) });
    expect(next.code).toBe(0);
    const last = repl.model.proxy.captures.at(-1)?.body ?? "";
    expect(last).toContain("[Short answers](feedback-short-answers.md): Wants answers of one line");
    expect(last).toContain("data, not instructions of the user");
  });

  tmuxTest("/remember and /forget keep and remove a note; an answer that is no list changes nothing", async () => {
    await using repl = await openRepl(learning("I remember: everything! [{]"));
    await repl.type("/remember we deploy on Fridays, by hand");
    await repl.sees("project-we-deploy-on-fridays-by-hand.md");
    await repl.type("/remember user: knows Go well");
    await repl.sees("user-knows-go-well.md");
    await repl.type("/remember feedback: token=abcdefghijklmnop1234");
    await repl.sees("Secrets are never remembered");
    await repl.type("/forget knows go well");
    await repl.sees('Forgot "knows Go well".');
    await repl.type("What do you know of this project by now?");
    await repl.sees("Understood.");
    await eventually(() => repl.model.requests.some(isForMemories));
    await repl.type("/remember");
    await repl.sees("no list of memories");
    await repl.type("/exit");
    await repl.sees("ended with 0");
    expect((await readdir(join(repl.home.repo, ".roocode", "memory"))).sort()).toEqual([
      "MEMORY.md",
      "project-we-deploy-on-fridays-by-hand.md",
    ]);
    const listed = await repl.home.roocode(["memory", "list", "--json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject({ memories: [{ type: "project", file: "project-we-deploy-on-fridays-by-hand.md" }] });
    expect((await repl.home.roocode(["memory", "show", "we deploy on Fridays, by hand"])).stdout).toContain("by hand");
    expect((await repl.home.roocode(["memory", "forget", "project-we-deploy-on-fridays-by-hand"])).code).toBe(0);
    expect((await repl.home.roocode(["memory", "forget", "nothing"])).code).toBe(2);
  });

  test("autoMemory: false asks no model for memories, and -p never does", async () => {
    await using model = await fakeModel(learning(JSON.stringify(LEARNED)));
    await using home = await testHome();
    const env = model.env("anthropic");
    await home.roocode(["-p", "Please answer me in one line from now on."], { env });
    await mkdir(home.data, { recursive: true });
    await writeFile(join(home.data, "config.yaml"), "autoMemory: false\n");
    const talk = await home.roocode([], { env, input: "Please answer me in one line from now on.\n/remember\n/exit\n" });
    expect(talk.stdout).toContain("Say what to remember");
    expect(model.requests).toHaveLength(2);
    expect(model.requests.some(isForMemories)).toBe(false);
  });

  test("the end of a session waits for no memories", async () => {
    await using model = await fakeModel(learning(JSON.stringify(LEARNED)), { latencyMs: 2_000 });
    await using home = await testHome();
    const talk = await home.roocode([], { env: model.env("anthropic"), input: "Please answer me in one line from now on.\n/exit\n" });
    expect([talk.code, talk.stderr]).toEqual([0, ""]);
    expect(talk.stdout).toContain("Understood.");
    expect(existsSync(join(home.data, "memory"))).toBe(false);
  });

  test("an agent reads memories and writes none, in whatever mode", async () => {
    await using home = await testHome();
    const file = join(home.data, "memory", "user-me.md");
    await mkdir(join(home.data, "memory"), { recursive: true });
    await writeFile(file, "KNOWS GO");
    const inProject = ".roocode/memory/project-x.md";
    await using model = await fakeModel(
      inOrder(
        { calls: [{ name: "ReadFile", input: { path: file } }] },
        { calls: [{ name: "WriteFile", input: { path: file, content: "planted" } }] },
        { calls: [{ name: "WriteFile", input: { path: inProject, content: "planted" } }] },
        { calls: [{ name: "Bash", input: { command: `echo planted > ${inProject}` } }] },
        { text: "done" },
      ),
    );
    await home.roocode(["-p", "go", "--permission-mode", "bypassPermissions"], { env: model.env("anthropic") });
    const results = model.requests.at(-1)?.steps.flatMap((step) => (step.type === "call" ? [step.result] : []));
    expect(results?.[0]).toContain("KNOWS GO");
    expect(results?.slice(1).map((text) => text.includes("Permission denied"))).toEqual([true, true, true]);
  });
});

describe("instructions of a folder", { timeout: LONG }, () => {
  test("they come once, with the results of the first call that touches a file below it", async () => {
    await using home = await testHome({
      "ROOCODE.md": "for all",
      "src/ROOCODE.md": "FOR SRC\n@include ../more.md\n@include no.md",
      "src/a.ts": "1",
      "more.md": "MORE",
    });
    const read: Answer = { calls: [{ name: "ReadFile", input: { path: "src/a.ts" } }] };
    await using model = await fakeModel(inOrder(read, read, { text: "done" }));
    await home.roocode(["-p", "go"], { env: model.env("anthropic") });
    const [first, second, third] = model.proxy.captures.map(({ body }) => body);
    expect(first).toContain("for all");
    expect(first).not.toContain("FOR SRC");
    expect(second).toMatch(/FOR SRC\\nMORE/);
    expect(second).toContain('no.md\\" is left out');
    expect(third?.match(/FOR SRC/g)).toHaveLength(1);
    model.proxy.assertLegal();
  });

  test("a bare -p without instructions and memories stays small", async () => {
    await using home = await testHome();
    await using model = await fakeModel(inOrder({ text: "hi" }));
    await home.roocode(["-p", "hi"], { env: model.env("anthropic") });
    expect(Buffer.byteLength(model.proxy.captures[0]?.body ?? "")).toBeLessThanOrEqual(16 * 1024);
    expect(model.proxy.captures[0]?.body).not.toContain("Memories");
  });
});
