import { UserError } from "../../protocol/errors.ts";
import type { UserMessage } from "../../protocol/message.ts";
import { type OpenedSession, PromptRefused } from "../../runtime/open-session.ts";
import { jsonLine } from "../json-line.ts";
import type { PrintOptions } from "../print.ts";
import { type InputItem, readStreamInput } from "../stream-input.ts";

type Run = (message: UserMessage, isLater: boolean) => Promise<number>;
/** Of several runs' exit codes the first of these that came counts. */
const PRECEDENCE = [130, 5, 2, 4, 3, 1, 0];

/** `--input-format stream-json`: one run a message, until the input ends. */
export async function printMessages(session: OpenedSession, run: Run, options: PrintOptions, signal: AbortSignal): Promise<number> {
  const codes: number[] = [];
  const say = (value: object) => options.write(jsonLine({ ...value, session_id: session.id }));
  const runMessage = async (item: Extract<InputItem, { type: "message" }>): Promise<number> => {
    try {
      return await run(await messageOf(session, item), codes.length > 0);
    } catch (error) {
      // The others are messages of their own.
      if (!(error instanceof PromptRefused)) throw error;
      say({ type: "error", error: { kind: "hook", message: error.message } });
      return 1;
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

async function messageOf(session: OpenedSession, { text, images }: Extract<InputItem, { type: "message" }>): Promise<UserMessage> {
  const { content } = await session.message(text);
  return { role: "user", content: [...content.filter((block) => block.type !== "text" || block.text !== ""), ...images] };
}

function controlResponse({ id, request }: Extract<InputItem, { type: "control" }>): object {
  if (request === "initialize") return { subtype: "success", request_id: id, response: {} };
  return { subtype: "error", request_id: id, error: `There is no request "${request}" here.` };
}
