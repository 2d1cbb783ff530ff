import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { BottomRow } from "../../src/interaction/bottom-row.ts";
import { Emulator } from "../support/emulator.ts";

function terminal(columns: number, rows: number) {
  const emulator = new Emulator(columns, rows);
  const output = Object.assign(new EventEmitter(), { rows, write: (text: string) => emulator.write(text.replaceAll("\n", "\r\n")) });
  return {
    emulator,
    output,
    resize: (to: number) => {
      output.rows = to;
      emulator.resize(columns, to);
      output.emit("resize");
    },
  };
}
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join("");

test("the text scrolls above the row and stays in the scrollback; the row is rewritten in its place and cut at the edge", async () => {
  const { emulator, output } = terminal(20, 6);
  output.write(lines(1, 8));
  output.write("half");
  using row = new BottomRow(output, false);
  row.show("alice · a task with a long name 你好");
  await emulator.settled();
  output.write(` a line\n${lines(9, 12)}`);
  row.show("bob");
  expect(await emulator.text()).toBe("line 9\nline 10\nline 11\nline 12\n\nbob");
  expect(await emulator.text("all")).toBe(`${lines(1, 8)}half a line\n${lines(9, 12)}\nbob`);
  expect(emulator.output).toContain("\x1b[?7lalice · a task with a long name 你好\x1b[K\x1b[?7h");
});

test("what does not change is not drawn again, but where the input has cleared it", async () => {
  const { emulator, output } = terminal(20, 6);
  using row = new BottomRow(output, true);
  row.show("alice");
  await emulator.settled();
  const { length } = emulator.output;
  row.show("alice");
  await emulator.settled();
  expect(emulator.output).toHaveLength(length);
  output.write("\x1b[J");
  row.draw();
  expect(await emulator.text()).toMatch(/^\n+alice$/);
});

test("it follows the size of the terminal, leaves a small one alone, and gives the row back at the end", async () => {
  const { emulator, output, resize } = terminal(20, 8);
  const row = new BottomRow(output, false);
  row.show("alice");
  await emulator.settled();
  resize(4);
  await emulator.settled();
  expect(await emulator.text()).not.toContain("alice");
  resize(6);
  await emulator.settled();
  output.write(lines(1, 9));
  expect(await emulator.text()).toBe("line 6\nline 7\nline 8\nline 9\n\nalice");
  row[Symbol.dispose]();
  output.write(lines(10, 12));
  expect(await emulator.text()).toBe("line 8\nline 9\nline 10\nline 11\nline 12");
});
