import type { AgentEvent } from "../../protocol/agent.ts";
import type { OpenedSession } from "../../runtime/open-session.ts";
import type { SteeringQueue } from "../steering-queue.ts";

export type SlashContext = {
  session: OpenedSession;
  queue: SteeringQueue;
  print(text: string): void;
  show(event: AgentEvent): void;
  /** Asks the person; undefined when there is no answer. */
  ask(question: string): Promise<string | undefined>;
  signal: AbortSignal;
};

/** A command that is typed into the session and calls no model, or none for an answer. */
export type SlashCommand = {
  name: string;
  /** As help shows it, for example `[focus]`. */
  argument?: string;
  describe: string;
  /** Can be used while the agent works. */
  anyTime?: boolean;
  run(argument: string, context: SlashContext): Promise<"exit" | undefined>;
};
