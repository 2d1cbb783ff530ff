import { Channel } from "../../engine/channel.ts";
import type { AgentEvent } from "../../protocol/agent.ts";
import { UserError } from "../../protocol/errors.ts";
import { type OpenedSession, PromptRefused } from "../../runtime/open-session.ts";
import { jsonLine } from "../json-line.ts";
import type { PrintOptions } from "../print.ts";
import { answerControl } from "../stream-control.ts";
import { type InputItem, readStreamInput } from "../stream-input.ts";
import type { StreamQuestions } from "../stream-questions.ts";

type StreamMessage = Extract<InputItem, { type: "message" }>;
type Run = (events: AsyncIterable<AgentEvent>, isLater: boolean) => Promise<number>;
/** Of several runs' exit codes the first of these that came counts. */
const PRECEDENCE = [130, 5, 2, 4, 3, 1, 0];

/** `--input-format stream-json`: one run a message, until the input ends. What else is asked is answered while a run goes on. */
export async function printMessages(
  session: OpenedSession,
  run: Run,
  options: PrintOptions,
  signal: AbortSignal,
  questions?: StreamQuestions,
): Promise<number> {
  const codes: number[] = [];
  const say = (value: object) => options.write(jsonLine({ ...value, session_id: session.id }));
  const messages = new Channel<StreamMessage>();
  let running: AbortController | undefined;
  const interrupt = () => running?.abort();
  if (questions) {
    questions.onMode = (mode) => session.setMode(mode);
    questions.onInterrupt = interrupt;
  }

  async function read(): Promise<void> {
    for await (const item of untilStopped(signal)) {
      switch (item.type) {
        case "message":
          messages.push(item);
          break;
        case "control":
          say({ type: "control_response", response: await answerControl(item, session, interrupt) });
          break;
        case "answer":
          questions?.answer(item.id, item.response);
          break;
        case "problem":
          say({ type: "error", error: { kind: "invalid_input", message: item.text } });
          break;
      }
      if (signal.aborted) break;
    }
  }

  async function runMessage(item: StreamMessage): Promise<number> {
    const own = new AbortController();
    running = own;
    const both = AbortSignal.any([signal, own.signal]);
    try {
      const code = await run(await eventsOf(session, item, both), codes.length > 0);
      // Its end was asked for.
      return own.signal.aborted && !signal.aborted ? 0 : code;
    } catch (error) {
      // The others are messages of their own.
      if (!(error instanceof UserError)) throw error;
      say({ type: "error", error: { kind: error instanceof PromptRefused ? "hook" : "invalid_input", message: error.message } });
      return error instanceof PromptRefused ? 1 : 2;
    } finally {
      running = undefined;
    }
  }

  const reading = read().finally(() => {
    messages.close();
    questions?.close();
  });
  // Its failure is seen below, when the messages before it are done.
  reading.catch(() => undefined);
  for await (const item of messages) {
    if (signal.aborted) break;
    codes.push(await runMessage(item));
  }
  await reading;
  if (signal.aborted) return 130;
  if (codes.length === 0) throw new UserError("No message came on standard input.");
  return PRECEDENCE.find((code) => codes.includes(code)) ?? 1;
}

async function* untilStopped(signal: AbortSignal): AsyncGenerator<InputItem> {
  const input = process.stdin;
  const stop = () => input.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    yield* readStreamInput(input);
  } catch (error) {
    // A stream that is closed from here says that it ended too early.
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

async function eventsOf(session: OpenedSession, { text, images }: StreamMessage, signal: AbortSignal): Promise<AsyncIterable<AgentEvent>> {
  if (text.startsWith("/") && images.length === 0) return (await import("../slash/print-command.ts")).slashRun(text, text, session, signal);
  const { content } = await session.message(text, signal);
  const whole = [...content.filter((block) => block.type !== "text" || block.text !== ""), ...images];
  return session.runToEnd({ message: { role: "user", content: whole } }, signal);
}
