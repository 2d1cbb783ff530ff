import { escapeHtml } from "../../platform/html.ts";
import type { ConvergenceStep } from "../../runtime/team-page/chronicle.ts";
import type { TeamPage } from "../../runtime/team-page/read-page.ts";
import { leftOut, number, shown, shownLine, shownPath, timeTag } from "./texts.ts";

const MOST_STEPS = 400;
const MOST_FILES = 50;

export function convergenceSection({ chronicle, report }: TeamPage): string {
  const steps = chronicle.convergence.slice(-MOST_STEPS);
  if (steps.length === 0) return "<p>Nothing was merged.</p>";
  const left = leftOut(chronicle.convergence.length - steps.length, "earlier steps are not on this page.");
  const check = report.status.check;
  const gate =
    check === undefined ? "There is no check: nothing was run on the merged result." : `Check: <code>${shown(check, 300)}</code>`;
  return `<p>${gate}</p>${left}<ol class="steps">
${steps.map(({ at, step }, index) => `<li>${stepHtml(step, timeTag(at), index)}</li>`).join("\n")}
</ol>`;
}

function stepHtml(step: ConvergenceStep, time: string, index: number): string {
  switch (step.type) {
    case "merge":
      return `${time} ${mergeHtml(step)}`;
    case "gate": {
      const word = step.ok ? '<span class="is-good">passed</span>' : '<span class="is-bad">failed</span>';
      const head = `${time} Check <code>${shown(step.command, 200)}</code> ${word}`;
      if (step.output.trim() === "") return head;
      return `<details id="gate-${index}"><summary>${head}</summary><pre tabindex="0">${shown(tail(step.output), 2000)}</pre></details>`;
    }
    case "landed":
      return `${time} <b class="is-good">Landed:</b> branch ${shown(step.branch, 100)} is at <code>${escapeHtml(step.commit.slice(0, 8))}</code>`;
    case "executable":
      return `${time} The branch of ${shown(step.name, 40)} changes what can run by itself: ${files(step.files)}`;
  }
}

function mergeHtml({ name, commit, choices = [], conflict, refused }: Extract<ConvergenceStep, { type: "merge" }>): string {
  const who = `<b>${shown(name, 40)}</b>`;
  if (refused !== undefined)
    return `<span class="is-bad">Taken back:</span> merge of ${who}: ${shownLine(refused, 300)}${refused.includes("\n") ? `<pre tabindex="0">${shown(refused, 2000)}</pre>` : ""}`;
  if (conflict !== undefined) return `<span class="is-warn">Conflict</span> in the merge of ${who}: ${files(conflict)}`;
  const chosen = choices.length > 0 ? `; a whole side was taken: ${files(choices)}` : "";
  return `<span class="is-good">Merged</span> ${who}${commit === undefined ? "" : ` as <code>${escapeHtml(commit.slice(0, 8))}</code>`}${chosen}`;
}

function files(paths: readonly string[]): string {
  const more = paths.length > MOST_FILES ? ` and ${number(paths.length - MOST_FILES)} more` : "";
  return paths.slice(0, MOST_FILES).map(shownPath).join(", ") + more;
}

/** How a check failed stands at the end. */
function tail(output: string): string {
  const text = output.trimEnd();
  return text.length > 2000 ? `…${text.slice(-1900)}` : text;
}
