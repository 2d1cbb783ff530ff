import { PassThrough } from "node:stream";
import { describe, expect, test, vi } from "vitest";
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

  test("what a tool has for a person is shown, but not right after a line that said the same", () => {
    const { plain, text } = screen();
    const call = { type: "tool_use", id: "1", name: "TaskList", input: {} } as const;
    const result = { content: [{ type: "text" as const, text: "{}" }], display: { type: "text" as const, text: "Task 1\nTask 2" } };
    plain.event({ type: "tool_result", call, result });
    plain.event({ type: "tool_result", call, result: { ...result, display: { type: "text", text: "Task 3" } } }, "alice");
    plain.line("Task 4");
    plain.event({ type: "tool_result", call, result: { ...result, display: { type: "text", text: "Task 4" } } });
    expect(text()).toBe("  Task 1\n  Task 2\nalice:   Task 3\nTask 4\n");
  });

  test("a task that a step has told is not told again by its call, also where several ran together", () => {
    const { plain, text } = screen();
    const result = (display: string) => ({
      content: [{ type: "text" as const, text: "{}" }],
      display: { type: "text" as const, text: display },
    });
    const call = { type: "tool_use", id: "1", name: "TaskCreate", input: {} } as const;
    for (const id of [1, 2]) plain.dim(`Task ${id} pending: a`);
    for (const id of [1, 2]) plain.event({ type: "tool_result", call, result: result(`Task ${id} pending: a`) });
    plain.event({ type: "tool_result", call: { ...call, name: "TaskList" }, result: result("Task 1 pending: a") });
    expect(text()).toBe("Task 1 pending: a\nTask 2 pending: a\n  Task 1 pending: a\n");
  });

  test("a question with answers takes a number or words", async () => {
    const { plain, type, text } = screen();
    const answer = plain.choose("Which?", ["red", "blue"]);
    type("2");
    expect(await answer).toBe("blue");
    const other = plain.choose("Which?", ["red", "blue"]);
    type("green");
    expect(await other).toBe("green");
    expect(text()).toContain("Which?\n  1. red\n  2. blue\n> ");
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
    await vi.waitFor(() => expect(text().split("[y]es").length).toBe(3));
    type("y");
    expect(await answer).toBe("yes");
    expect(text()).not.toContain("[a]lways");
  });

  test("a question that was answered elsewhere ends without an answer; so does one at the end of the input", async () => {
    const { plain, end, text } = screen();
    const elsewhere = new AbortController();
    const first = plain.ask("one? ", elsewhere.signal);
    await vi.waitFor(() => expect(text()).toContain("one? "));
    elsewhere.abort();
    expect(await first).toBeUndefined();
    const second = plain.ask("two? ");
    end();
    expect(await second).toBeUndefined();
  });

  test("text that came while a question was open is whole on the screen after it", async () => {
    const { plain, type, text } = screen();
    plain.event({ type: "stream_text", text: "one " });
    const answer = plain.ask("go? ");
    await vi.waitFor(() => expect(text()).toContain("go? "));
    plain.event({ type: "stream_text", text: "two\nthree " });
    plain.event({ type: "stream_text", text: "four " });
    type("yes");
    await answer;
    plain.event({ type: "stream_text", text: "five\n" });
    plain.event({ type: "stream_text", text: "six" });
    plain.line("end");
    expect(text()).toBe("one \ngo? two\nthree four five\nsix\nend\n");
  });
});
