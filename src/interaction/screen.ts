import type { AgentEvent } from "../protocol/agent.ts";
import type { ImageBlock } from "../protocol/message.ts";
import type { HumanAnswer, PermissionDecision, PermissionRequest } from "../protocol/permission.ts";
import type { OpenedSession } from "../runtime/open-session.ts";
import type { TeamScreen } from "../runtime/run-team.ts";
import type { ThemeName } from "../runtime/theme-names.ts";
import type { PlanAnswer } from "../tools/builtin/exit-plan-mode.ts";
import type { Earlier } from "./earlier-messages.ts";
import type { PickItem } from "./pick.ts";

/** Keys that act at once; `interrupt` is Ctrl+C on an empty line. */
export type Key = "escape" | "interrupt" | "background" | "next-mode";
export type InputListener = {
  /** A line that answers no question; false gives it to the next question. */
  line(text: string): boolean;
  key(key: Key): void;
};

/** The colours of a screen. */
export type ScreenTheme = { readonly name: ThemeName; use(name: ThemeName): void };

/** Where a session's person reads and types: lines (`plain.ts`) or the full screen (`tui/app.ts`). Owns no agent state. */
export interface Screen {
  /** Undefined where there are none to choose. */
  readonly theme: ScreenTheme | undefined;
  line(text: string): void;
  dim(text: string): void;
  /** Words of the person that were not typed at the prompt just now: the first of the command line, what had waited. */
  echo(text: string): void;
  /** The end of a conversation that is gone on with. */
  earlier(messages: Earlier): void;
  /** Says for the moment what a key or a line did. */
  hint(text: string): void;
  /** Nothing stands on it any more. */
  clear(): void;
  /** Lets go of the input, so that the process can end. */
  close(): void;
  /** Draws one event; `who` stands before the lines of an agent that shares the screen. */
  event(event: AgentEvent, who?: string): void;
  /** The next line of the person. Undefined when the input ended, or when the signal came first: what was typed by then stays. */
  prompt(giveWay: AbortSignal): Promise<string | undefined>;
  /** Images that were pasted, whose marks stand in the text. */
  imagesIn(text: string): ImageBlock[];
  /** One question at a time; undefined when the input ended or the signal came first. */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>;
  /** Answers the open prompt as if it had been typed, unless something else has been. */
  answer(text: string): void;
  /** Keys, and lines that are typed while nothing is asked. */
  listen(listener: InputListener): void;
  /** One of a list; undefined where the person leaves it. */
  pick<Value>(title: string, items: readonly PickItem<Value>[], signal?: AbortSignal): Promise<Value | undefined>;
  /** A question with answers to choose from, or other words. */
  choose(question: string, options: readonly string[], signal?: AbortSignal): Promise<string | undefined>;
  askPermission(
    request: PermissionRequest,
    decision: PermissionDecision,
    alwaysRule: string | undefined,
    signal: AbortSignal,
  ): Promise<HumanAnswer | undefined>;
  /** The plan, and what the person makes of it: a mode to go on in, or words on what to change. */
  askPlan(plan: string, file: string, signal: AbortSignal): Promise<PlanAnswer | undefined>;
}

/** `attach`: the screen shows what it can of this session, until the next one. */
export type SessionScreen = { screen: Screen; attach: (session: OpenedSession) => void };

/** `onBegin` takes the way to write to the lead. */
export type OpenedTeamScreen = {
  screen: Screen;
  team: TeamScreen;
  onBegin: (tell: (text: string) => void) => void;
  close: () => void;
};
