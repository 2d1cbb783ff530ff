import { escapeHtml } from "../../platform/html.ts";
import type { TeamPage } from "../../runtime/team-page/read-page.ts";
import { type TeamStatus, taskMark } from "../../runtime/team-status.ts";
import { table } from "./table.ts";
import { statusWords, taskGraph } from "./task-graph.ts";
import { clock, costOrUnknown, number, shown, shownLine, tokensIn } from "./texts.ts";

type Task = TeamStatus["tasks"][number];

export function tasksSection({ report, chronicle, at }: TeamPage): string {
  const { tasks } = report.status;
  if (tasks.length === 0) return "<p>There are no tasks.</p>";
  const claims = chronicle.claims.byTask(at.getTime());
  const rows = tasks.map((task) => {
    const last = claims.get(task.id)?.at(-1);
    return [
      escapeHtml(task.id),
      subjectCell(task),
      `<span class="${statusClass(task.status)}">${taskMark(task.status)}&nbsp;${statusWords(task.status).replace(" ", "&nbsp;")}</span>`,
      task.owner === undefined ? "" : shown(task.owner, 40),
      number(task.attempts),
      task.blockedBy.map((id) => `<a href="#task-${escapeHtml(id)}">${escapeHtml(id)}</a>`).join(", "),
      last ? `${clock(last.from)}${last.end === undefined ? "" : `&nbsp;to&nbsp;${clock(last.to)}`}` : "",
      task.commit === undefined ? (task.noChange ? "no change" : "") : `<code>${escapeHtml(task.commit.slice(0, 8))}</code>`,
      task.spent ? `${number(tokensIn(task.spent))} / ${number(task.spent.usage.output)}, ${costOrUnknown(task.spent)}` : "",
    ];
  });
  return `${taskGraph(tasks)}
${table({
  caption: "Tasks: what, by whom, after what, and what came of it",
  id: "task-table",
  head: ["Task", "Subject", "State", "Owner", "Attempt", "Waits for", "Claimed", "Commit", "Tokens in / out, cost"],
  rows,
  rowId: (index) => `task-${tasks[index]?.id ?? ""}`,
  figures: [4],
})}`;
}

function subjectCell({ id, subject, description, note, check }: Task): string {
  const more = [
    ...(description === "" ? [] : [`<p class="text">${shown(description, 800)}</p>`]),
    ...(check === undefined ? [] : [`<p>Check: <code>${shown(check, 300)}</code></p>`]),
    ...(note === undefined ? [] : [`<p class="text">Note: ${shown(note, 800)}</p>`]),
  ];
  if (more.length === 0) return shownLine(subject);
  return `<details id="about-${escapeHtml(id)}"><summary>${shownLine(subject)}</summary>${more.join("")}</details>`;
}

function statusClass(status: Task["status"]): string {
  if (status === "completed") return "is-good";
  return status === "failed" ? "is-bad" : "";
}
