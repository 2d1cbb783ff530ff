import { describe, expect, test } from "vitest";
import type { AgentEvent } from "../../../src/protocol/agent.ts";
import { END, fullScreen } from "../../support/full-screen.ts";

const ENTER = "\r";
const never = new AbortController().signal;
const bash: Extract<AgentEvent, { type: "tool_use" }> = {
  type: "tool_use",
  call: { type: "tool_use", id: "1", name: "Bash", input: { command: "npm test" } },
};
const request = { agent: "main", tool: "Bash", access: { kind: "command", subject: "npm test && git push" } } as const;
const decision = { decision: "ask", sticky: false, layer: "mode", reason: "It runs a command.", parts: ["npm test", "git push"] } as const;

describe("input", () => {
  test("T-01: 200 pasted lines with tabs, CRLF and a command among them are one prompt with the exact text", async () => {
    using shown = fullScreen();
    const { terminal, screen } = shown;
    const lines = Array.from({ length: 200 }, (_, index) => (index === 50 ? "/exit" : `line ${index}\tend`));
    const prompt = screen.prompt(never);
    terminal.paste(
      lines
        .map((line, index) => `${line}${index % 3 === 0 ? "\r\n" : "\n"}`)
        .join("")
        .trimEnd(),
    );
    expect(await shown.input()).toContain("[paste #1 +200 lines]");
    terminal.keys(ENTER);
    expect(await prompt).toBe(lines.join("\n"));
  });

  test("a short paste stands in the input as it is, a tab as an arrow", async () => {
    using shown = fullScreen();
    const { terminal, screen } = shown;
    const prompt = screen.prompt(never);
    terminal.paste("a\tb\r\nc");
    expect(await shown.input()).toBe("a→b\nc");
    terminal.type("!");
    terminal.keys(ENTER);
    expect(await prompt).toBe("a\tb\nc!");
  });

  test("T-05: Ctrl+C clears what is typed, which the arrow brings back; on an empty input it is the session's", async () => {
    using shown = fullScreen();
    const { terminal, keys } = shown;
    terminal.type("hello");
    terminal.keys("\x03");
    expect(await shown.input()).toBe("");
    expect(keys).toEqual([]);
    terminal.keys("\x03");
    expect(keys).toEqual(["interrupt"]);
    terminal.keys("\x1b[A");
    expect(await shown.input()).toBe("hello");
  });

  test("T-09: the cursor of the terminal stands at the caret, while something runs too", async () => {
    using shown = fullScreen();
    const { terminal, screen } = shown;
    screen.event({ type: "turn_start", turn: 1 });
    terminal.type("ab你好");
    const end = await terminal.cursor();
    expect(end.column).toBe(6);
    terminal.keys("\x1b[D");
    expect(await terminal.cursor()).toEqual({ column: 4, row: end.row });
    const rows = (await terminal.text()).split("\n");
    expect(rows[end.row]).toBe("ab你好");
    screen.event(END);
  });

  test("Esc, Ctrl+B and Shift+Tab act at once, and Esc closes a list of completions first", async () => {
    using shown = fullScreen();
    shown.terminal.keys("\x1b", "\x02", "\x1b[Z");
    expect(shown.keys).toEqual(["escape", "background", "next-mode"]);
  });

  test("what is typed while the agent works waits in sight, and the arrow takes the last one back", async () => {
    using shown = fullScreen({ isBusy: true });
    const { terminal, queue } = shown;
    terminal.type("use tabs");
    terminal.keys(ENTER);
    expect(shown.lines).toEqual(["use tabs"]);
    queue.add("use tabs");
    shown.screen.redraw();
    expect(await terminal.text()).toContain("» use tabs");
    terminal.keys("\x1b[A");
    expect(await shown.input()).toBe("use tabs");
    expect(queue.messages).toEqual([]);
  });

  test("T-11: backspace removes whole clusters", async () => {
    using shown = fullScreen();
    const { terminal } = shown;
    for (const cluster of ["🇨🇳", "👍🏽", "✈️", "👨‍👩‍👧", "é"]) {
      terminal.type(`x${cluster}`);
      terminal.keys("\x7f");
      expect(await shown.input(), cluster).toBe("x");
      terminal.keys("\x7f");
    }
  });
});

describe("drawing", () => {
  test("T-10: borders of a table with wide, joined and composed characters stand in one column, at 40 columns too", async () => {
    using shown = fullScreen({ columns: 40 });
    await shown.stream("| a | 中文 |\n|---|---|\n| é | 👨‍👩‍👧 |\n| ab | x |\n\nend\n", 200);
    const rows = (await shown.terminal.text()).split("\n").filter((line) => /[│┼┌└]/.test(line));
    expect(rows).toHaveLength(7);
    const widths = rows.map((line) =>
      [...new Intl.Segmenter().segment(line)].reduce((sum, { segment }) => sum + (/中|文|👨/.test(segment) ? 2 : 1), 0),
    );
    expect(new Set(widths).size).toBe(1);
  });

  test("T-11: joined emoji and flags that come letter by letter leave nothing behind", async () => {
    const text = "🇨🇳🇩🇪 👍🏽 ✈️ ✈ 한글 ﷽";
    using streamed = fullScreen({ columns: 30 });
    for (const letter of text) {
      streamed.screen.event({ type: "stream_text", text: letter });
      await streamed.terminal.settled();
    }
    streamed.screen.event(END);
    using whole = fullScreen({ columns: 30 });
    whole.screen.event({ type: "stream_text", text });
    whole.screen.event(END);
    expect(await streamed.terminal.text()).toBe(await whole.terminal.text());
  });

  test("T-03: down to one column and one row and back, in the middle of a stream, a table, a diff and a question", async () => {
    const shownAt = async (sizes: readonly (readonly [number, number])[]) => {
      const shown = fullScreen();
      const { terminal, screen } = shown;
      await shown.stream(
        "Some text that is long enough to be wrapped on a screen of twenty columns.\n\n| a | 中文 |\n|---|---|\n| é | x |\n\n",
        40,
      );
      screen.event(bash);
      screen.event({
        type: "tool_result",
        call: bash.call,
        result: { content: [], display: { type: "diff", path: "a", patch: "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-old 中文\n+new text\n same" } },
      });
      const asked = screen.askPermission(request, decision, "Bash(npm test)", never);
      await terminal.text();
      for (const [columns, rows] of sizes) {
        terminal.resize(columns, rows);
        screen.event({ type: "tool_progress", id: "2", text: "x" });
        await terminal.settled();
      }
      const text = await terminal.text();
      terminal.keys("y");
      expect(await asked).toBe("yes");
      screen.close();
      return text;
    };
    const back = await shownAt([
      [20, 24],
      [7, 24],
      [1, 24],
      [1, 1],
      [80, 1],
      [80, 24],
    ]);
    expect(back).toBe(await shownAt([]));
    expect(back).toContain("❯ 1. Yes (y)");
  });

  test("T-07: a long answer after a long history is drawn without a clear, and a key costs less than 2 kB", async () => {
    using shown = fullScreen();
    const { terminal, screen } = shown;
    for (let index = 0; index < 250; index += 1) screen.line(`history ${index}\nmore`);
    await terminal.settled();
    const before = terminal.output.length;
    const text = Array.from(
      { length: 300 },
      (_, index) => `Word ${index} of an answer, in **bold** now and then.${index % 7 === 0 ? "\n\n" : " "}`,
    ).join("");
    await shown.stream(text, 12);
    screen.event(END);
    await terminal.settled();
    const streamed = terminal.output.slice(before);
    expect(streamed).not.toMatch(/\x1b\[[23]J/);
    expect(streamed.length).toBeLessThan(20 * text.length);
    expect(streamed.split("\x1b[?2026h").length).toBe(streamed.split("\x1b[?2026l").length);
    for (let index = 0; index < 50; index += 1) {
      const at = terminal.output.length;
      terminal.type("x");
      await terminal.settled();
      expect(terminal.output.length - at).toBeLessThan(2_048);
    }
    const all = await terminal.text("all");
    expect(all).toContain("history 0\n");
    for (const word of [0, 100, 200, 299]) expect(all.split(`Word ${word} of`)).toHaveLength(2);
  });

  test("nothing is written while nothing happens", async () => {
    using shown = fullScreen();
    shown.screen.line("hello");
    await shown.terminal.settled();
    const before = shown.terminal.output.length;
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    expect(shown.terminal.output.length).toBe(before);
  });

  test("what a model or a tool says does not act on the terminal", async () => {
    using shown = fullScreen();
    const evil = "a\x1b]0;title\x07b\x1b[2Jc\u202Ed";
    await shown.stream(`${evil}\n\n\`\`\`\n${evil}\n\`\`\`\n`, 500);
    shown.screen.event(bash);
    shown.screen.event({ type: "tool_result", call: bash.call, result: { content: [{ type: "text", text: evil }] } });
    const text = await shown.terminal.text();
    expect(text.match(/a\\x1b\]0;title\\x07b\\x1b\[2Jc\\x202ed/g)).toHaveLength(3);
  });

  test("a result is folded, and Ctrl+O shows it whole", async () => {
    using shown = fullScreen({ rows: 60 });
    const { terminal, screen } = shown;
    screen.event(bash);
    screen.event({
      type: "tool_result",
      call: bash.call,
      result: { content: [{ type: "text", text: Array.from({ length: 30 }, (_, index) => `row ${index}`).join("\n") }] },
    });
    const folded = await terminal.text();
    expect(folded).toContain("● Bash(npm test)");
    expect(folded).toContain("row 4\n    … 25 more lines (Ctrl+O shows all)");
    expect(folded).not.toContain("row 5");
    terminal.keys("\x0f");
    expect(await terminal.text()).toContain("row 29");
  });
});

describe("questions", () => {
  test("a permission shows the command, its parts, why, and what always would allow; keys of before are no answer", async () => {
    using shown = fullScreen();
    const { terminal, screen } = shown;
    terminal.type("y");
    const asked = screen.askPermission(request, decision, "Bash(npm test)", never);
    await terminal.settled();
    terminal.type("y");
    expect(await shown.input()).toBe("yy");
    await expect.poll(() => terminal.text()).toContain("main asks: Bash");
    const text = await terminal.text();
    expect(text).toContain(
      [
        "  npm test && git push",
        "    · npm test",
        "    · git push",
        "  It runs a command.",
        "❯ 1. Yes (y)",
        "  2. Always: allow Bash(npm test) (a)",
        "  3. No (n)",
      ].join("\n"),
    );
    terminal.keys("\x1b[B", ENTER);
    expect(await asked).toBe("always");
    // What had been begun goes on.
    expect(await shown.input()).toBe("yy");
  });

  test("words answer a choice, and a number in it does", async () => {
    using shown = fullScreen();
    const { terminal, screen } = shown;
    const first = screen.choose("Which port?", ["80", "443"], never);
    await expect.poll(() => terminal.text()).toContain("2. 443");
    terminal.keys("2");
    expect(await first).toBe("443");
    const second = screen.choose("Which port?", ["80", "443"], never);
    await new Promise((resolve) => setTimeout(resolve, 450));
    await expect.poll(() => terminal.text()).toContain("2. 443");
    terminal.type("the usual one");
    terminal.keys(ENTER);
    expect(await second).toBe("the usual one");
  });

  test("a plan stands whole above its question, and words say what to change", async () => {
    using shown = fullScreen();
    const { terminal, screen } = shown;
    const plan = Array.from({ length: 40 }, (_, index) => `${index + 1}. step ${index + 1}`).join("\n");
    const asked = screen.askPlan(plan, "plan.md", never);
    await expect.poll(() => terminal.text()).toContain("Carry it out?\n  plan.md\n");
    const all = await terminal.text("all");
    for (const step of [1, 20, 40]) expect(all).toContain(`${step}. step ${step}`);
    terminal.type("no step 3");
    terminal.keys(ENTER);
    expect(await asked).toEqual({ feedback: "no step 3" });
  });

  test("Esc denies where it interrupts nothing, and a question whose run ended goes", async () => {
    using shown = fullScreen();
    const { terminal, screen, keys } = shown;
    const asked = screen.askPermission(request, decision, undefined, never);
    await expect.poll(() => terminal.text()).toContain("main asks");
    terminal.keys("\x1b");
    expect(await asked).toBe("no");
    expect(keys).toEqual(["escape"]);
    expect(shown.notified).toEqual(["main asks: Bash"]);
    const run = new AbortController();
    const second = screen.askPermission(request, decision, undefined, run.signal);
    await expect.poll(() => terminal.text()).toContain("main asks");
    run.abort();
    expect(await second).toBeUndefined();
    expect(await terminal.text()).not.toContain("main asks");
  });
});

test("a choice that names a long rule is shown whole on a narrow screen, and a call that is cut ends in a mark", async () => {
  using shown = fullScreen({ columns: 40 });
  const command = "npm test -- --reporter dot --no-coverage";
  shown.screen.event({ type: "tool_use", call: { type: "tool_use", id: "1", name: "Bash", input: { command } } });
  const answer = shown.screen.askPermission(request, decision, "Bash(npm test), Bash(git push origin main)", never);
  const text = await shown.terminal.text();
  expect(text).toContain("2. Always: allow Bash(npm test),\n     Bash(git push origin main) (a)\n  3. No (n)");
  expect(text).toMatch(/^○ Bash\(npm test -- --reporter dot --no-.*…$/m);
  shown.terminal.keys("n");
  expect(await answer).toBe("no");
});
