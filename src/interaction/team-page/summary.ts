import { escapeHtml } from "../../platform/html.ts";
import type { TeamPage } from "../../runtime/team-page/read-page.ts";
import { costOrUnknown, counted, duration, number, shown, shownLine, tokensIn } from "./texts.ts";

/** The team, its goal, how it stands or ended, and the figures of the whole. */
export function summarySection(page: TeamPage): string {
  const { report, chronicle } = page;
  const { status, landed } = report;
  const count = (wanted: string) => status.tasks.filter((task) => task.status === wanted).length;
  const merges = chronicle.convergence.filter(({ step }) => step.type === "merge");
  const bad = merges.filter(({ step }) => step.type === "merge" && (step.conflict !== undefined || step.refused !== undefined)).length;
  const failed = count("failed") + count("cancelled");
  const facts: [string, string][] = [
    ["State", state(page)],
    ["Time", wallTime(page)],
    [
      "Tasks",
      `${number(count("completed"))} of ${number(status.tasks.length)} completed${failed > 0 ? `, ${number(failed)} not done` : ""}`,
    ],
    ["Members", number(report.members.length)],
    ["Messages", number(chronicle.messageCount)],
    [
      "Merges",
      `${number(report.merges.filter(({ commit }) => commit !== undefined).length)}${bad > 0 ? `, ${counted(bad, "conflict or refusal", "conflicts and refusals")}` : ""}`,
    ],
    ["Tokens", status.spent ? `${number(tokensIn(status.spent))} in, ${number(status.spent.usage.output)} out` : "none yet"],
    ["Cost", status.spent ? costOrUnknown(status.spent) : "none yet"],
    [
      "Branch",
      landed
        ? `${shown(landed.branch, 100)} at <code>${escapeHtml(landed.commit.slice(0, 8))}</code>`
        : `${shown(status.baseBranch, 100)}, nothing landed`,
    ],
  ];
  return `<p class="note">Team report of RooCode</p>
<h1>${shown(status.team, 100)}</h1>
${goalHtml(status.goal)}
<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join("")}</dl>
${chronicle.outcome ? `<details id="outcome"><summary>The team's last words</summary><p class="text">${shown(chronicle.outcome.text, 4000)}</p></details>` : ""}`;
}

function goalHtml(goal: string): string {
  const isLong = goal.includes("\n") || goal.length > 300;
  return isLong
    ? `<details id="goal"><summary class="goal">${shownLine(goal, 300)}</summary><p class="text">${shown(goal, 8000)}</p></details>`
    : `<p class="goal">${shown(goal)}</p>`;
}

function state({ chronicle: { outcome }, report: { status } }: TeamPage): string {
  if (outcome) {
    const words = ENDS[outcome.exitCode] ?? "ended";
    return `<span class="${outcome.exitCode === 0 ? "is-good" : "is-bad"}">${words}</span> (exit ${outcome.exitCode})`;
  }
  const isGone = status.lead !== undefined && !status.lead.alive;
  if (isGone) return `<span class="is-bad">the lead is gone</span>: roocode team resume ${shown(status.team, 100)}`;
  return `<span class="is-busy">runs</span>, lead ${status.state}${status.detail ? `: ${shownLine(status.detail, 120)}` : ""}`;
}

/** spec.md, section 2. */
const ENDS: Readonly<Record<number, string>> = {
  0: "done",
  1: "failed",
  3: "partly done",
  4: "waits for a person",
  5: "model failure",
  130: "interrupted",
};

function wallTime({ chronicle, at, report }: TeamPage): string {
  const { from, to, outcome } = chronicle;
  if (from === undefined || to === undefined) return "not begun";
  const end = outcome || !report.status.lead?.alive ? Date.parse(to) : at.getTime();
  return `${duration(end - Date.parse(from))} <span class="note">from ${new Date(from).toISOString().slice(0, 16).replace("T", " ")}</span>`;
}
