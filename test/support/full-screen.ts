import type { InputListener, Key } from "../../src/interaction/screen.ts";
import { SteeringQueue } from "../../src/interaction/steering-queue.ts";
import { type TuiOptions, TuiScreen } from "../../src/interaction/tui/app.ts";
import { makeTheme } from "../../src/interaction/tui/theme.ts";
import type { AgentEvent } from "../../src/protocol/agent.ts";
import { NO_USAGE } from "../../src/protocol/model.ts";
import { Emulator } from "./emulator.ts";

export const END: AgentEvent = { type: "loop_complete", reason: "end_turn", text: "", turns: 1, usage: NO_USAGE };

const NOTHING: NonNullable<TuiOptions["clipboard"]> = async () => ({ problem: "There is no image in the clipboard." });

/** The full screen on a terminal in memory; `keys` and `lines` are what a session would hear. */
export function fullScreen({
  columns = 80,
  rows = 24,
  isBusy = false,
  theme = makeTheme({ hasColours: false }),
  clipboard = NOTHING,
} = {}) {
  const terminal = new Emulator(columns, rows);
  const queue = new SteeringQueue();
  const keys: Key[] = [];
  const lines: string[] = [];
  const notified: string[] = [];
  const screen = new TuiScreen({
    terminal,
    theme,
    queue,
    status: () => ["default", "a-model"],
    notify: (text) => void notified.push(text),
    onEvent: () => undefined,
    clipboard,
  });
  const listener: InputListener = {
    key: (key) => void keys.push(key),
    line: (text) => {
      if (isBusy) lines.push(text);
      return isBusy;
    },
  };
  screen.listen(listener);
  const stream = async (text: string, pieces = 1) => {
    for (let at = 0; at < text.length; at += pieces) {
      screen.event({ type: "stream_text", text: text.slice(at, at + pieces) });
      if (at % (pieces * 8) === 0) await terminal.settled();
    }
  };
  return {
    terminal,
    queue,
    screen,
    keys,
    lines,
    notified,
    stream,
    /** What the bottom of the screen shows between its two rules. */
    input: async () => /─{5,}\n([\s\S]*?)\n?─{5,}/.exec(await terminal.text())?.[1],
    [Symbol.dispose]: () => screen.close(),
  };
}
