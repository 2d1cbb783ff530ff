import type { AgentEvent } from "../../protocol/agent.ts";
import { UserError } from "../../protocol/errors.ts";
import type { TextBlock } from "../../protocol/message.ts";
import { NO_USAGE } from "../../protocol/model.ts";
import type { OpenedSession } from "../../runtime/open-session.ts";
import type { Skills } from "../../runtime/skills.ts";
import { compactedText } from "../compacted-text.ts";
import { numbered } from "../pick.ts";
import { SteeringQueue } from "../steering-queue.ts";
import type { SlashCommand } from "./command.ts";
import { resolveSlash } from "./resolve.ts";

/** The run that a prompt with a slash at its beginning stands for. `words`: the prompt with what was piped behind it. */
export async function slashRun(
  prompt: string,
  words: string,
  session: OpenedSession,
  signal: AbortSignal,
): Promise<AsyncIterable<AgentEvent>> {
  const slash = await resolveSlash(prompt, session);
  if (slash?.type === "unknown") throw new UserError(slash.text);
  if (slash?.type === "command") return commandRun(slash.command, slash.argument, session, signal);
  const called = slash && ((skills: Skills): Promise<TextBlock[]> => skills.call(slash.skill, slash.argument, signal));
  return session.runToEnd({ message: await session.message(words, signal, called) }, signal);
}

/** A command as a run of its own: what it prints is the answer. Nobody is asked anything. */
async function* commandRun(
  command: SlashCommand,
  argument: string,
  session: OpenedSession,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent> {
  const { name, type } = command;
  if (type === "local-ui") throw new UserError(`/${name} is for an interactive session.`);
  const before = session.spending.cost;
  const said: string[] = [];
  const events: AgentEvent[] = [];
  const end = await command.run(argument, {
    session,
    queue: new SteeringQueue(),
    signal,
    theme: undefined,
    print: (text) => said.push(text),
    show: (event) => events.push(event),
    ask: async () => undefined,
    pick: async (title, items) => {
      said.push(title, numbered(items));
      return undefined;
    },
  });
  if (typeof end === "object")
    throw new UserError(
      end.open === undefined
        ? `/${name} is for an interactive session: a -p run without -c or --resume begins a new conversation by itself.`
        : `Go on with it by its id: roocode -p --resume ${end.open} "prompt"`,
    );
  let usage = NO_USAGE;
  for (const event of events) {
    if (event.type === "compacted") {
      usage = event.usage;
      said.push(compactedText(event));
    } else if (event.type === "notice") said.push(event.text);
    else yield event;
  }
  const cost = session.spending.isPriced ? { cost: session.spending.cost - before } : {};
  yield { type: "loop_complete", reason: signal.aborted ? "aborted" : "end_turn", text: said.join("\n"), turns: 0, usage, ...cost };
}
