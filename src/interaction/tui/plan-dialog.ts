import type { PlanAnswer } from "../../tools/builtin/exit-plan-mode.ts";
import { wrap } from "./clip.ts";
import { Dialog } from "./dialog.ts";
import type { Theme } from "./theme.ts";

const NO = "No: plan on. They did not say what to change; ask them.";

/** The plan itself stands above, in the transcript: it may be longer than the screen. */
export function planDialog(file: string, theme: Theme, rows: () => number): Dialog<PlanAnswer> {
  return new Dialog<PlanAnswer>(
    {
      title: "Carry it out?",
      body: (width) => wrap(file, width, "  ").map(theme.dim),
      choices: [
        { label: "Yes, ask for each change", value: { mode: "default" } },
        { label: "Yes, edits need no asking (acceptEdits)", value: { mode: "acceptEdits" } },
        { label: "Yes, nothing needs asking (bypassPermissions)", value: { mode: "bypassPermissions" } },
        { label: "No, plan on", value: { feedback: NO } },
      ],
      words: "or type what to change",
    },
    theme,
    rows,
  );
}
