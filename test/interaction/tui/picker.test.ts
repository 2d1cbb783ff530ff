import { expect, test } from "vitest";
import { earlierMessages } from "../../../src/interaction/earlier-messages.ts";
import type { Message, TextBlock, ToolResultBlock, ToolUseBlock } from "../../../src/protocol/message.ts";
import { fullScreen } from "../../support/full-screen.ts";

const [UP, DOWN, ENTER, ESCAPE] = ["\x1b[A", "\x1b[B", "\r", "\x1b"];
const items = ["mend the login", "write docs", "a long talk 你好"].map((label, index) => ({ label, note: `note${index}`, value: index }));

test("a list stands above the input; arrows move the mark, typing filters, Enter takes, and what was typed before comes back", async () => {
  using shown = fullScreen();
  const { terminal, screen } = shown;
  terminal.type("a draft");
  const picked = screen.pick("Which one?", items);
  expect(await terminal.text()).toContain(
    "Which one?\n❯ mend the login  note0\n  write docs  note1\n  a long talk 你好  note2\n  ↑ ↓ and Enter choose, typing filters, Esc leaves",
  );
  terminal.keys(DOWN);
  expect(await terminal.text()).toContain("❯ write docs");
  terminal.keys(UP, UP);
  expect(await terminal.text()).toContain("❯ a long talk");
  terminal.type("docs");
  expect(await terminal.text()).toContain("Which one?\n❯ write docs  note1\n  ↑ ↓");
  terminal.keys(ENTER);
  expect(await picked).toBe(1);
  expect(await shown.input()).toBe("a draft");
  expect(await terminal.text()).not.toContain("Which one?");
});

test.each([
  ["Esc", ESCAPE],
  ["Ctrl+C", "\x03"],
])("%s leaves a list without a choice and is no key of the session", async (_, key) => {
  using shown = fullScreen();
  const picked = shown.screen.pick("Which one?", items);
  await shown.terminal.settled();
  shown.terminal.type("nothing like it");
  expect(await shown.terminal.text()).toContain("Nothing matches what you typed.");
  shown.terminal.keys(ENTER, key);
  expect(await picked).toBeUndefined();
  expect(shown.keys).toEqual([]);
});

test("of a long list a part is shown that holds the mark, at 40 columns and 14 rows too", async () => {
  using shown = fullScreen({ columns: 40, rows: 14 });
  const many = Array.from({ length: 200 }, (_, index) => ({ label: `conversation ${index} ${"words ".repeat(20)}`, value: index }));
  const picked = shown.screen.pick("Which one?", many);
  await shown.terminal.settled();
  shown.terminal.keys(...Array.from({ length: 57 }, () => DOWN));
  const text = await shown.terminal.text();
  expect(text).toMatch(/^❯ conversation 57 words .*…$/m);
  expect(text).toContain("58 of 200");
  expect(text.split("\n").length).toBeLessThanOrEqual(14);
  shown.terminal.keys(ENTER);
  expect(await picked).toBe(57);
});

test("a conversation that goes on shows its end, its calls with results, and how much stands before", async () => {
  using shown = fullScreen({ rows: 40 });
  const words = (text: string): TextBlock => ({ type: "text", text });
  const assistant = (...content: (TextBlock | ToolUseBlock)[]): Message => ({ role: "assistant", provider: "p", model: "m", content });
  const result: ToolResultBlock = { type: "tool_result", toolUseId: "1", content: [words("a.txt")], isError: false };
  const history: Message[] = [
    { role: "user", content: [words("<system-reminder>rules</system-reminder>"), words("the first words")] },
    ...[0, 1, 2, 3].flatMap((index): Message[] => [
      assistant(words(`answer ${index}`)),
      { role: "user", content: [words(`question ${index}`)] },
    ]),
    assistant(words("I **look**."), { type: "tool_use", id: "1", name: "Bash", input: { command: "ls" } }),
    { role: "user", content: [result, words("<system-reminder>more</system-reminder>")] },
  ];
  shown.screen.earlier(earlierMessages(history));
  const text = await shown.terminal.text();
  expect(text).toMatch(/^… 4 earlier messages\n\n› question 1\n\nanswer 2\n/);
  expect(text).toContain("› question 3\n\nI look.\n\n● Bash(ls)\n    a.txt");
  expect(text).not.toContain("more");
});
