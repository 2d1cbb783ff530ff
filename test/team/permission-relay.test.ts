import { describe, expect, test } from "vitest";
import type { AskHuman, HumanAnswer, PermissionDecision } from "../../src/protocol/permission.ts";
import type { TeamMessage } from "../../src/protocol/team.ts";
import { LeadAnswers } from "../../src/team/lead-answers.ts";
import { permissionRelay } from "../../src/team/permission-relay.ts";

const request = { agent: "alice", tool: "Bash", access: { kind: "command", subject: "npm test" } } as const;
const asked: PermissionDecision = { decision: "ask", sticky: false, layer: "mode", reason: "it asks" };
const never = new AbortController().signal;

/** A relay whose mail is kept; `pane` is what is answered in the teammate's own pane, or nothing where it has none. */
function relayTo(pane?: AskHuman, untilLeadIsGone: () => Promise<void> = () => new Promise(() => undefined)) {
  const sent: TeamMessage[] = [];
  let whenAsked: (id: string) => void = () => undefined;
  const question = new Promise<string>((resolve) => {
    whenAsked = resolve;
  });
  const send = async (_: string, body: TeamMessage) => {
    sent.push(body);
    return `alice.1.${sent.length}`;
  };
  const mailbox = {
    send,
    unread: async () => [],
    acknowledge: async () => undefined,
    waitingFor: async () => ({ count: 0, waking: 0 }),
    arrival: async () => undefined,
  };
  const answers = new LeadAnswers(untilLeadIsGone);
  const ask = permissionRelay({
    mailbox,
    answers,
    alwaysRule: async () => "Bash(npm test)",
    onWait: async (what) => {
      if (what !== undefined) whenAsked("alice.1.1");
    },
    ownPane: pane,
  });
  return { relay: { ask, answer: answers.take.bind(answers) }, sent: () => sent.map((body) => body.type), question };
}

const nobody: AskHuman = async () => undefined;
const open: AskHuman = (_, __, signal) =>
  new Promise<HumanAnswer | undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));

describe("a teammate's question", () => {
  test("is answered by the lead, which ends it in the pane", async () => {
    const { relay, sent, question } = relayTo(open);
    const answer = relay.ask(request, asked, never);
    relay.answer(await question, { approve: true });
    expect([await answer, sent()]).toEqual(["yes", ["permission_request"]]);
  });

  test("is answered in the pane, and the lead hears that it is settled", async () => {
    const { relay, sent } = relayTo(async () => "no");
    expect(await relay.ask(request, asked, never)).toBe("no");
    expect(sent()).toEqual(["permission_request", "permission_settled"]);
  });

  test("waits for the lead when nobody is at the pane", async () => {
    const { relay, question } = relayTo(nobody);
    const answer = relay.ask(request, asked, never);
    relay.answer(await question, { approve: false });
    expect(await answer).toBe("no");
  });

  test("has no answer, not a no, when nobody is at the lead's terminal either", async () => {
    const { relay, question } = relayTo(nobody);
    const answer = relay.ask(request, asked, never);
    relay.answer(await question, { approve: false, feedback: "nobody answered" });
    expect(await answer).toBeUndefined();
  });

  test("to a lead that is gone has no answer, unless somebody is at the pane", async () => {
    const gone = async () => undefined;
    expect(await relayTo(undefined, gone).relay.ask(request, asked, never)).toBeUndefined();
    expect(await relayTo(async () => "yes", gone).relay.ask(request, asked, never)).toBe("yes");
  });

  test("is open from its sending on: an answer that is faster than the id counts, one to another question does not", async () => {
    const answers = new LeadAnswers(() => new Promise(() => undefined));
    expect(answers.take("alice.1.1", { approve: true })).toBe(false);
    using question = await answers.open(async () => {
      expect(answers.take("alice.1.1", { approve: true })).toBe(true);
      return "alice.1.1";
    });
    expect(await question.answer(never)).toEqual({ approve: true });
    expect(answers.take("alice.1.2", { approve: true })).toBe(false);
  });
});
