import type { SessionScreen } from "../screen.ts";
import type { SteeringQueue } from "../steering-queue.ts";
import type { Terminal } from "../terminal.ts";
import { TuiScreen } from "./app.ts";
import { PromptCompletion } from "./completion.ts";
import { ProcessTerminal } from "./process-terminal.ts";
import { PromptHistory } from "./prompt-history.ts";
import { SessionStatus } from "./session-status.ts";
import { makeTheme } from "./theme.ts";

type TuiParts = {
  env: NodeJS.ProcessEnv;
  terminal: Terminal;
  queue: SteeringQueue;
  notify: (text: string) => void;
  theme: Parameters<typeof makeTheme>[0];
};

/** The full screen on this terminal. */
export function openTui({ terminal, queue, notify, theme, env }: TuiParts): SessionScreen {
  const status = new SessionStatus(() => screen.redraw());
  const completion = new PromptCompletion();
  const screen: TuiScreen = new TuiScreen({
    terminal: new ProcessTerminal(terminal),
    theme: makeTheme(theme),
    queue,
    notify,
    completion,
    clipboard: async () => (await import("../../platform/clipboard-image.ts")).clipboardImage(env),
    status: () => status.parts(),
    onEvent: (event) => status.observe(event),
  });
  let isRecalled = false;
  const attach: SessionScreen["attach"] = (session) => {
    status.of(session);
    completion.of(session);
    const { data, projectRoot } = session.surroundings;
    const history = new PromptHistory(data.sessions(projectRoot), (text) => screen.hint(text));
    // Once: a session that follows in this process has it already.
    if (!isRecalled) void history.read().then((texts) => screen.recall(texts, (text) => history.add(text)));
    isRecalled = true;
  };
  return { screen, attach };
}
