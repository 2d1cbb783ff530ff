import type { UserMessage } from "../protocol/message.ts";
import { PERMISSION_MODES } from "../protocol/permission.ts";
import { type OpenedSession, PromptRefused } from "../runtime/open-session.ts";
import type { Key } from "./line-questions.ts";
import type { PlainScreen } from "./plain.ts";
import type { SlashContext } from "./slash/command.ts";
import { readSlash } from "./slash/registry.ts";
import { sayProblem } from "./slash/say-problem.ts";
import type { SteeringQueue } from "./steering-queue.ts";

/** Within this time a second Ctrl+C ends the session, and a second Esc goes back. */
const TWICE_MS = 2_000;

/** Prompts and runs, one after another, until the person ends it. What is typed during a run waits for its next round. */
export async function runRepl(session: OpenedSession, screen: PlainScreen, queue: SteeringQueue, firstPrompt?: string): Promise<void> {
  let running: AbortController | undefined;
  /** Of a command that was typed at the prompt. */
  let command: AbortController | undefined;
  let isOver = false;
  let isAtPrompt = false;
  const lastHit = new Map<Key, number>();
  const isSecond = (key: Key): boolean => {
    const now = performance.now();
    const before = lastHit.get(key);
    lastHit.set(key, now);
    return before !== undefined && now - before < TWICE_MS;
  };

  const context = (signal: AbortSignal): SlashContext => ({
    session,
    queue,
    signal,
    print: (text) => screen.line(text),
    show: (event) => screen.event(event),
    ask: (question) => screen.ask(question, signal),
  });

  /** Gives true when the line was a command. */
  async function runSlash(line: string, signal: AbortSignal): Promise<boolean> {
    const slash = readSlash(line);
    if (!slash) return false;
    if (!slash.command) screen.line(`There is no command /${slash.name}. /help lists them.`);
    else if (running && !slash.command.anyTime) {
      queue.addCommand(line);
      screen.dim(`/${slash.name} runs when the agent is done. /queue shows what waits; Esc stops the agent and runs it now.`);
    } else {
      try {
        if ((await slash.command.run(slash.argument, context(signal))) === "exit") isOver = true;
      } catch (error) {
        sayProblem(error, (text) => screen.line(text));
      }
    }
    return true;
  }

  /** Undefined where a hook refuses the words. */
  async function messageOf(line: string, signal: AbortSignal): Promise<UserMessage | undefined> {
    try {
      return await session.message(line, signal);
    } catch (error) {
      if (!(error instanceof PromptRefused)) throw error;
      screen.line(error.message);
      return undefined;
    }
  }

  async function nextPrompt(): Promise<string | undefined> {
    isAtPrompt = true;
    const line = await screen.ask("> ", undefined, true);
    isAtPrompt = false;
    return line;
  }

  function interrupt(): void {
    const busy = running ?? command;
    if (!busy || busy.signal.aborted) return;
    screen.dim("Interrupting …");
    busy.abort();
  }

  function leave(): void {
    isOver = true;
    (running ?? command)?.abort();
    screen.close();
  }

  function onKey(key: Key): void {
    const second = isSecond(key);
    switch (key) {
      case "escape":
        if (running ?? command) interrupt();
        else if (second && isAtPrompt) screen.answer("/rewind");
        break;
      case "interrupt":
        if (second) leave();
        else if (running ?? command) interrupt();
        else screen.dim("Ctrl+C once more ends the session.");
        break;
      case "background": {
        const moved = session.toBackground();
        screen.dim(
          moved > 0
            ? `Sent ${moved === 1 ? "a command" : `${moved} commands`} to the background.`
            : "Nothing runs that can go to the background.",
        );
        break;
      }
      case "next-mode": {
        const next = PERMISSION_MODES[(PERMISSION_MODES.indexOf(session.mode()) + 1) % PERMISSION_MODES.length];
        if (next) session.setMode(next);
        screen.dim(`Mode ${session.mode()}.`);
        break;
      }
    }
  }

  screen.listen({
    key: onKey,
    line(text) {
      if (!running) return false;
      const { signal } = running;
      if (text.trim() === "") return true;
      if (readSlash(text)) void runSlash(text, signal);
      else {
        queue.add(text);
        screen.dim("It goes in with the next round. /queue shows what waits; Esc stops the agent and sends it now.");
      }
      return true;
    },
  });
  const onSignal = () => onKey("interrupt");
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", leave);
  // The terminal is gone: what runs ends with the session, as with any other end.
  process.on("SIGHUP", leave);
  try {
    let prompt = firstPrompt;
    while (!isOver) {
      prompt ??= queue.take() ?? queue.takeCommand() ?? (await nextPrompt());
      if (prompt === undefined || isOver) break;
      const line = prompt;
      prompt = undefined;
      lastHit.clear();
      if (line.trim() === "") continue;
      const whole = new AbortController();
      if (readSlash(line)) {
        command = whole;
        await runSlash(line, whole.signal);
        command = undefined;
        continue;
      }
      running = whole;
      const message = await messageOf(line, whole.signal);
      if (message) {
        const events = session.agent.run({ message }, whole.signal);
        for await (const event of session.learner?.watch(line, events) ?? events) screen.event(event);
      }
      running = undefined;
    }
  } finally {
    process.off("SIGINT", onSignal);
    // The others stay: a terminal that closes sends SIGHUP more than once, and what is open is saved only now.
    screen.close();
  }
}
