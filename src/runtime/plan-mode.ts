import type { PermissionMode } from "../protocol/permission.ts";

const PLAN =
  "<system-reminder>Plan mode is on: look and think, change nothing. Explore with ReadFile, Grep, Glob and commands that only look; design; present the plan in your answer; wait for the user's approval. Writing files and other commands need the user's yes each time.</system-reminder>";
const OVER = "<system-reminder>Plan mode is over: you may carry out what was agreed.</system-reminder>";

/** The mode is no part of the system prompt, which must not change: the conversation is told when it begins and ends. */
export class PlanModeNotice {
  #isTold = false;

  /** What goes with the next message of the person; undefined when nothing has changed. */
  next(mode: PermissionMode): string | undefined {
    const isPlan = mode === "plan";
    if (isPlan === this.#isTold) return undefined;
    this.#isTold = isPlan;
    return isPlan ? PLAN : OVER;
  }

  /** For a new history, which holds nothing of it. */
  now(mode: PermissionMode): string[] {
    return mode === "plan" ? [PLAN] : [];
  }
}
