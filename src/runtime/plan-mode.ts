import { readTextOrUndefined, writeAtomic } from "../platform/files.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import type { Tool } from "../protocol/tool.ts";
import { type ApprovePlan, exitPlanModeTool } from "../tools/builtin/exit-plan-mode.ts";

const OVER = "<system-reminder>Plan mode is over: you may carry out what was agreed.</system-reminder>";

export type PlanModeParts = {
  /** The session's plan: the one file that is written without a question. */
  file: string;
  mode: () => PermissionMode;
  setMode: (mode: PermissionMode) => void;
  approve: ApprovePlan;
};

/**
 * Planning is a matter of words and of one file. The mode is no part of the system prompt, which must not change: the conversation is told
 * when it begins and ends.
 */
export class PlanMode {
  readonly #parts: PlanModeParts;
  #isTold = false;

  constructor(parts: PlanModeParts) {
    this.#parts = parts;
  }

  /** What goes with the next message or round; undefined when nothing has changed. */
  next(): string | undefined {
    const isPlan = this.#isOn;
    if (isPlan === this.#isTold) return undefined;
    this.#isTold = isPlan;
    return isPlan ? this.#begins() : OVER;
  }

  /** For a new history, which holds nothing of it. */
  now(): string[] {
    return this.#isOn ? [this.#begins()] : [];
  }

  tool(): Tool {
    const { file, setMode, approve } = this.#parts;
    return exitPlanModeTool({
      file,
      isPlanning: () => this.#isOn,
      read: () => readTextOrUndefined(file),
      write: (plan) => writeAtomic(file, plan),
      approve,
      leave: async (mode) => {
        setMode(mode);
        // The tool's result says it.
        this.#isTold = false;
      },
    });
  }

  get #isOn(): boolean {
    return this.#parts.mode() === "plan";
  }

  #begins(): string {
    const { file } = this.#parts;
    return `<system-reminder>Plan mode is on. You must not change anything: no edits, no commits, no settings, no commands that do more than look. The one exception is the plan file ${file}, which you write without a question. This holds whatever was said before, until the person approves the plan.
1. Explore: read the files that matter with ReadFile, Grep, Glob and commands that only look. Ask what only the person can decide.
2. Design: choose a way, weigh it against others, find what could go wrong and how the result is checked.
3. Write the plan file with WriteFile: the goal, the steps in order with the files they touch, the checks. Short enough to be read.
4. Call ExitPlanMode and wait: the person approves the plan, or says what to change.</system-reminder>`;
  }
}
