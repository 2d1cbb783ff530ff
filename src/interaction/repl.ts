import { UserError } from "../protocol/errors.ts";
import { type UserMessage, userText } from "../protocol/message.ts";
import { PERMISSION_MODES } from "../protocol/permission.ts";
import type { OpenedSession } from "../runtime/open-session.ts";
import type { Attention } from "./attention.ts";
import type { Key, Screen } from "./screen.ts";
import type { SlashContext, SlashEnd } from "./slash/command.ts";
import { maySlash, resolveSlash, type Slash } from "./slash/resolve.ts";
import { sayProblem } from "./slash/say-problem.ts";
import type { SteeringQueue } from "./steering-queue.ts";

/** Within this time a second Ctrl+C ends the session, and a second Esc goes back. */
const TWICE_MS = 2_000;

/**
 * Prompts and runs, one after another, until the person ends it or goes on in another conversation. What is typed during a run waits for
 * its next round.
 */
export async function runRepl(
  session: OpenedSession,
  screen: Screen,
  queue: SteeringQueue,
  attention: Attention,
  firstPrompt?: string,
): Promise<SlashEnd> {
  let running: AbortController | undefined;
  /** Of a command that was typed at the prompt. */
  let command: AbortController | undefined;
  let end: SlashEnd | undefined;
  /** Lines that were typed during a run are looked at one after another. */
  let typed = Promise.resolve();
  let isAtPrompt = false;
  // No key leads to the mode that asks for nothing, unless the session began in it: /mode does.
  const began = session.mode();
  const modes = PERMISSION_MODES.filter((mode) => mode !== "bypassPermissions" || mode === began);
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
    theme: screen.theme,
    print: (text) => screen.line(text),
    show: (event) => screen.event(event),
    ask: (question) => screen.ask(question, signal),
    pick: (title, items) => screen.pick(title, items, signal),
  });

  async function runCommand({ command: own, argument }: Extract<Slash, { type: "command" }>, signal: AbortSignal): Promise<void> {
    try {
      end ??= await own.run(argument, context(signal));
    } catch (error) {
      sayProblem(error, (text) => screen.line(text));
    }
  }

  /** A line that was typed while the agent works. */
  async function takeTyped(line: string, signal: AbortSignal): Promise<void> {
    const slash = await resolveSlash(line, session);
    if (ownCommand(line) !== undefined) {
      queue.addCommand(line);
      screen.hint("It runs when the agent is done. /queue shows what waits; Esc stops the agent and runs it now.");
    } else if (slash?.type === "unknown") screen.line(slash.text);
    else if (slash?.type === "command" && slash.command.anyTime) await runCommand(slash, signal);
    else if (slash) {
      queue.addCommand(line);
      screen.hint(`/${slash.name} runs when the agent is done. /queue shows what waits; Esc stops the agent and runs it now.`);
    } else if (screen.imagesIn(line).length > 0) {
      queue.addCommand(line);
      screen.hint("It has an image, so it is sent when the agent is done. /queue shows what waits; Esc stops the agent and sends it now.");
    } else {
      queue.add(line);
      screen.hint("It goes in with the next round. /queue shows what waits; Esc stops the agent and sends it now.");
    }
  }

  /** Undefined where a hook refuses the words, or what was called can't begin. `prompt`: what was called by its name. */
  async function messageOf(line: string, prompt: Slash | undefined, signal: AbortSignal): Promise<UserMessage | undefined> {
    const called = prompt?.type === "prompt" ? prompt : undefined;
    try {
      const message = await session.message(line, signal, called && ((skills) => skills.call(called.skill, called.argument, signal)));
      const images = screen.imagesIn(line);
      return images.length === 0 ? message : { ...message, content: [...message.content, ...images] };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      screen.line(error.message);
      return undefined;
    }
  }

  async function nextPrompt(): Promise<string | undefined> {
    for (;;) {
      await attention.untilQuiet();
      if (session.subagents.hasNews) return "";
      isAtPrompt = true;
      const giveWay = attention.open();
      const line = await screen.prompt(giveWay);
      isAtPrompt = false;
      if (line !== undefined || !giveWay.aborted || end !== undefined) return line;
    }
  }

  function interrupt(): void {
    const busy = running ?? command;
    if (!busy || busy.signal.aborted) return;
    screen.hint("Interrupting …");
    busy.abort();
  }

  function leave(): void {
    end = "exit";
    (running ?? command)?.abort();
    screen.close();
  }

  function onKey(key: Key): void {
    const second = isSecond(key);
    switch (key) {
      case "escape": {
        const moved = running ? session.subagents.toBackground() : 0;
        if (moved > 0) screen.hint(`Sent ${counted(moved, "a sub-agent", "sub-agents")[0]} to the background; Esc again stops the agent.`);
        else if (running ?? command) interrupt();
        else if (second && isAtPrompt) screen.answer("/rewind");
        break;
      }
      case "interrupt":
        if (second) leave();
        else if (running ?? command) interrupt();
        else screen.hint("Ctrl+C once more ends the session.");
        break;
      case "background": {
        const agents = session.subagents.toBackground();
        const commands = session.toBackground();
        const moved = [...counted(commands, "a command", "commands"), ...counted(agents, "a sub-agent", "sub-agents")];
        screen.hint(moved.length > 0 ? `Sent ${moved.join(" and ")} to the background.` : "Nothing runs that can go to the background.");
        break;
      }
      case "next-mode": {
        const next = modes[(modes.indexOf(session.mode()) + 1) % modes.length];
        if (next) session.setMode(next);
        screen.hint(`Mode ${session.mode()}.`);
        break;
      }
    }
  }

  screen.listen({
    key: onKey,
    line(text) {
      if (!running) return false;
      const { signal } = running;
      if (text.trim() !== "") typed = typed.then(() => takeTyped(text, signal));
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
    while (end === undefined) {
      await typed;
      prompt ??= queue.take() ?? queue.takeCommand();
      const typedAtPrompt = prompt === undefined ? await nextPrompt() : undefined;
      prompt ??= typedAtPrompt;
      if (prompt === undefined || end !== undefined) break;
      const line = prompt;
      prompt = undefined;
      lastHit.clear();
      const news = line.trim() === "" ? session.subagents.news() : undefined;
      if (line.trim() === "" && news === undefined) continue;
      const whole = new AbortController();
      if (news === undefined && line !== typedAtPrompt) screen.echo(line);
      const own = ownCommand(line);
      if (own !== undefined) {
        command = whole;
        for await (const event of session.runCommand(own, whole.signal)) screen.event(event);
        command = undefined;
        continue;
      }
      const slash = maySlash(line) ? await resolveSlash(line, session) : undefined;
      if (slash?.type === "unknown") screen.line(slash.text);
      if (slash?.type === "command") {
        command = whole;
        await runCommand(slash, whole.signal);
        command = undefined;
      }
      if (slash && slash.type !== "prompt") continue;
      running = whole;
      if (news !== undefined) screen.dim("What worked in the background has ended.");
      const message = news === undefined ? await messageOf(line, slash, whole.signal) : userText(news);
      if (message) {
        const events = session.agent.run({ message }, whole.signal);
        const watched = news === undefined ? session.learner?.watch(line, events) : undefined;
        for await (const event of watched ?? events) screen.event(event);
      }
      running = undefined;
    }
  } finally {
    process.off("SIGINT", onSignal);
    // The others stay: a terminal that closes sends SIGHUP more than once, and what is open is saved only now.
    if (typeof end !== "object") screen.close();
  }
  return end ?? "exit";
}

/** `!npm test` */
function ownCommand(line: string): string | undefined {
  return /^!\s*(\S[\s\S]*)$/.exec(line)?.[1];
}

function counted(count: number, one: string, many: string): string[] {
  return count === 0 ? [] : [count === 1 ? one : `${count} ${many}`];
}
