import type { SessionScreen } from "../screen.ts";
import type { SteeringQueue } from "../steering-queue.ts";
import type { Terminal } from "../terminal.ts";
import { TuiScreen } from "./app.ts";
import { PromptCompletion } from "./completion.ts";
import { ProcessTerminal } from "./process-terminal.ts";
import { SessionStatus } from "./session-status.ts";
import { makeTheme } from "./theme.ts";

/** The full screen on this terminal. */
export function openTui(terminal: Terminal, queue: SteeringQueue, notify: (text: string) => void): SessionScreen {
  const status = new SessionStatus(() => screen.redraw());
  const completion = new PromptCompletion();
  const screen: TuiScreen = new TuiScreen({
    terminal: new ProcessTerminal(terminal),
    theme: makeTheme(terminal.isScreen),
    queue,
    notify,
    completion,
    status: () => status.parts(),
    onEvent: (event) => status.observe(event),
  });
  const attach: SessionScreen["attach"] = (session) => {
    status.of(session);
    completion.of(session);
  };
  return { screen, attach };
}
