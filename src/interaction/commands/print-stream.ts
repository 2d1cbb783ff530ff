import type { AgentEvent } from "../../protocol/agent.ts";
import { UserError } from "../../protocol/errors.ts";
import { type OpenedSession, PromptRefused } from "../../runtime/open-session.ts";
import { jsonLine } from "../json-line.ts";
import type { PrintOptions } from "../print.ts";
import { type InputItem, readStreamInput } from "../stream-input.ts";

type Run = (events: AsyncIterable<AgentEvent>, isLater: boolean) => Promise<number>;
/** Of several runs' exit codes the first of these that came counts. */
const PRECEDENCE = [130, 5, 2, 4, 3, 1, 0];

/** `--input-format stream-json`: one run a message, until the input ends. */
export async function printMessages(session: OpenedSession, run: Run, options: PrintOptions, signal: AbortSignal): Promise<number> {
  const codes: number[] = [];
  const say = (value: object) => options.write(jsonLine({ ...value, session_id: session.id }));
  const runMessage = async (item: Extract<InputItem, { type: "message" }>): Promise<number> => {
    try {
      return await run(await eventsOf(session, item, signal), codes.length > 0);
    } catch (error) {
      // The others are messages of their own.
      if (!(error instanceof UserError)) throw error;
      say({ type: "error", error: { kind: error instanceof PromptRefused ? "hook" : "invalid_input", message: error.message } });
      return error instanceof PromptRefused ? 1 : 2;
    }
  };
  for await (const item of untilStopped(signal)) {
    switch (item.type) {
      case "message":
        codes.push(await runMessage(item));
        break;
      case "control":
        say({ type: "control_response", response: controlResponse(item) });
        break;
      case "problem":
        say({ type: "error", error: { kind: "invalid_input", message: item.text } });
        break;
    }
    if (signal.aborted) break;
  }
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

async function eventsOf(
  session: OpenedSession,
  { text, images }: Extract<InputItem, { type: "message" }>,
  signal: AbortSignal,
): Promise<AsyncIterable<AgentEvent>> {
  if (text.startsWith("/") && images.length === 0) return (await import("../slash/print-command.ts")).slashRun(text, text, session, signal);
  const { content } = await session.message(text, signal);
  const whole = [...content.filter((block) => block.type !== "text" || block.text !== ""), ...images];
  return session.runToEnd({ message: { role: "user", content: whole } }, signal);
}

function controlResponse({ id, request }: Extract<InputItem, { type: "control" }>): object {
  if (request === "initialize") return { subtype: "success", request_id: id, response: {} };
  return { subtype: "error", request_id: id, error: `There is no request "${request}" here.` };
}
