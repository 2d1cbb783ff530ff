import { describe, expect, test } from "vitest";
import type { Answer } from "../../src/interaction/demo/conversation.ts";
import type { AgentEvent } from "../../src/protocol/agent.ts";
import { userText } from "../../src/protocol/message.ts";
import { openSession } from "../../src/runtime/open-session.ts";
import { readSurroundings } from "../../src/runtime/surroundings.ts";
import { fakeModel, inOrder, PROTOCOLS } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { assertSessionLegal } from "../support/proxy.ts";

/** Text, safe calls beside each other, a failing command with siblings, an input that does not fit, an end. */
const SCRIPT: readonly Answer[] = [
  {
    text: "I look.",
    calls: [
      { name: "ReadFile", input: { path: "README.md" } },
      { name: "Glob", input: { pattern: "**/*.js" } },
    ],
  },
  {
    calls: [
      { name: "Bash", input: { command: "echo one" } },
      { name: "Bash", input: { command: "echo two >&2; exit 1" } },
    ],
  },
  {
    text: "And more.",
    calls: [
      { name: "ReadFile", input: { path: 3 } },
      { name: "ReadFile", input: { path: "package.json" } },
    ],
  },
  { text: "Done." },
];

describe("I9: an interrupt at any event leaves a legal history in which each started call has exactly one result", () => {
  test.each(PROTOCOLS)("over %s", { timeout: 180_000 }, async (protocol) => {
    await using model = await fakeModel(inOrder(...SCRIPT));
    await using home = await testHome();
    const env = { HOME: home.home, PATH: process.env.PATH ?? "", ...model.env(protocol) };
    const surroundings = await readSurroundings(home.repo, env, { permissionMode: "bypassPermissions" });

    /** Gives the events of a run that is interrupted when its `at`-th event comes. */
    async function interruptedAt(at: number): Promise<AgentEvent[]> {
      await using session = await openSession(surroundings, { maxTurns: 50, askUser: async () => undefined });
      const interrupt = new AbortController();
      const events: AgentEvent[] = [];
      for await (const event of session.agent.run({ message: userText(`go ${at}`) }, interrupt.signal)) {
        events.push(event);
        if (events.length === at) interrupt.abort();
      }
      // The API takes what is left, with the person's next words behind it.
      for await (const event of session.agent.run({ message: userText("go on") }, AbortSignal.timeout(20_000)))
        if (event.type === "loop_complete") expect(event.reason).toBe("end_turn");
      await assertSessionLegal(session.session.path);
      return events;
    }

    const whole = await interruptedAt(Number.POSITIVE_INFINITY);
    expect(whole.length).toBeGreaterThan(25);
    for (let at = 1; at < whole.length; at += 1) {
      const events = await interruptedAt(at);
      expect(events.at(-1)).toMatchObject({ type: "loop_complete" });
      const started = events.flatMap((event) => (event.type === "tool_use" ? [event.call.id] : []));
      const answered = events.flatMap((event) => (event.type === "tool_result" ? [event.call.id] : []));
      expect(answered.sort(), `interrupted at event ${at}`).toEqual(started.sort());
    }
    model.proxy.assertLegal();
    expect(model.proxy.refused).toEqual([]);
  });
});
