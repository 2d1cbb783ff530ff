import type { AgentEvent } from "../../protocol/agent.ts";
import type { OpenedSession } from "../../runtime/open-session.ts";
import type { PickItem } from "../pick.ts";
import type { ScreenTheme } from "../screen.ts";
import type { SteeringQueue } from "../steering-queue.ts";

export type SlashContext = {
  session: OpenedSession;
  queue: SteeringQueue;
  print(text: string): void;
  show(event: AgentEvent): void;
  /** Asks the person; undefined when there is no answer, or nobody to ask. */
  ask(question: string): Promise<string | undefined>;
  /** One of a list; undefined when none is taken. Where nobody can choose, the list is printed. */
  pick<Value>(title: string, items: readonly PickItem<Value>[]): Promise<Value | undefined>;
  /** Undefined where there are no colours to choose. */
  theme: ScreenTheme | undefined;
  signal: AbortSignal;
};

/** What an interactive session does after it: end, or go on in another conversation (by its id, else a new one). */
export type SlashEnd = "exit" | { open: string | undefined };

/**
 * A command that is typed into the session and calls no model, or none for an answer. `local` works in a print run as well; `local-ui`
 * is about the screen or the input of an interactive session. The third type, `prompt`, is a file: a skill or a command file.
 */
export type SlashCommand = {
  name: string;
  type: "local" | "local-ui";
  /** As help shows it, for example `[focus]`. */
  argument?: string;
  describe: string;
  /** Can be used while the agent works. */
  anyTime?: boolean;
  run(argument: string, context: SlashContext): Promise<SlashEnd | undefined>;
};
