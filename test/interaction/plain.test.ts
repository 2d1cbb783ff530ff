import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { PlainScreen } from "../../src/interaction/plain.ts";
import type { Terminal } from "../../src/interaction/terminal.ts";

function screen() {
  const input = new PassThrough();
  const output = new PassThrough();
  let text = "";
  output.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  // Streams stand for the terminal's: nothing but reading lines and writing is asked of them.
  const terminal = { input, output, isScreen: false } as unknown as Terminal;
  return { plain: new PlainScreen(terminal), type: (line: string) => input.write(`${line}\n`), end: () => input.end(), text: () => text };
}

const request = { agent: "alice", tool: "Bash", access: { kind: "command", subject: "npm test" } } as const;
const asked = { decision: "ask", sticky: false, layer: "mode", reason: "asks" } as const;

describe("the plain screen", () => {
  test("a tool's call and result are a line each, control codes are shown and do nothing", () => {
    const { plain, text } = screen();
    plain.event({ type: "stream_text", text: "I look.\x1b[2J" });
    plain.event({ type: "tool_use", call: { type: "tool_use", id: "1", name: "Bash", input: { command: "ls\nrm" } } });
    plain.event({
      type: "tool_result",
      call: { type: "tool_use", id: "1", name: "Bash", input: {} },
      result: { content: [{ type: "text", text: "a\nb" }] },
    });
    expect(text()).toBe("I look.\\x1b[2J\n● Bash(ls)\n  a\n");
  });

  test("questions come one after another, and what was typed ahead answers a prompt", async () => {
    const { plain, type } = screen();
    const first = plain.ask("one? ");
    type("1");
    type("2");
    expect(await first).toBe("1");
    await new Promise((resolve) => setImmediate(resolve));
    expect(await plain.ask("two? ")).toBe("2");
  });

  test("what was typed before a permission question is no answer to it", async () => {
    const { plain, type } = screen();
    const first = plain.ask("> ");
    type("hello");
    type("y");
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    const answer = plain.askPermission(request, asked, undefined, new AbortController().signal);
    await new Promise((resolve) => setImmediate(resolve));
    type("n");
    expect(await answer).toBe("no");
  });

  test("always is taken only where the rule was shown", async () => {
    const { plain, type, text } = screen();
    const answer = plain.askPermission(request, asked, undefined, new AbortController().signal);
    await new Promise((resolve) => setImmediate(resolve));
    type("a");
    type("y");
    await new Promise((resolve) => setTimeout(resolve, 10));
    type("y");
    expect(await answer).toBe("yes");
    expect(text()).not.toContain("[a]lways");
  });

  test("a question that was answered elsewhere ends without an answer; so does one at the end of the input", async () => {
    const { plain, end } = screen();
    const elsewhere = new AbortController();
    const first = plain.ask("one? ", elsewhere.signal);
    setTimeout(() => elsewhere.abort(), 5);
    expect(await first).toBeUndefined();
    const second = plain.ask("two? ");
    end();
    expect(await second).toBeUndefined();
  });
});
