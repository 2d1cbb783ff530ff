import { addSpent, NOTHING_SPENT, type Spent, spentSince } from "../../protocol/model.ts";
import { INTEGRATOR, LEAD } from "../../protocol/team.ts";
import type { TeamPage } from "../../runtime/team-page/read-page.ts";
import { table } from "./table.ts";
import { costOrUnknown, number, shown, tokensIn } from "./texts.ts";

type Row = { who: string; model: string; answers?: number; spent: Spent };

const HEAD = ["Tokens in", "of them cached", "Tokens out", "Cost"];

export function spendingSection({ chronicle, report }: TeamPage): string {
  const { spent } = report.status;
  const rows = rowsOf(chronicle.spending.rows, report.status);
  if (rows.length === 0) return "<p>No model has answered yet.</p>";
  const models = new Map<string, Row>();
  for (const row of rows) {
    const before = models.get(row.model) ?? { who: "", model: row.model, answers: 0, spent: NOTHING_SPENT };
    models.set(row.model, { ...before, answers: (before.answers ?? 0) + (row.answers ?? 0), spent: addSpent(before.spent, row.spent) });
  }
  const total = spent ?? rows.reduce((sum, row) => addSpent(sum, row.spent), NOTHING_SPENT);
  const cap = report.status.maxCost === undefined ? "" : `<p>The cap is $${report.status.maxCost} for all runs together.</p>`;
  return `${cap}${table({
    caption: "What each member took of each model",
    id: "by-member",
    head: ["Member", "Model", "Answers", ...HEAD],
    rows: rows.map(({ who, model, answers, spent: took }) => [
      shown(who, 40),
      shown(model, 80),
      answers === undefined ? "" : number(answers),
      ...figures(took),
    ]),
    figures: [2, 3, 4, 5, 6],
    total: ["All", "", "", ...figures(total)],
  })}
${table({
  caption: "What was taken of each model",
  id: "by-model",
  head: ["Model", "Answers", ...HEAD],
  rows: [...models.values()].map(({ model, answers = 0, spent: took }) => [
    shown(model, 80),
    answers > 0 ? number(answers) : "",
    ...figures(took),
  ]),
  figures: [1, 2, 3, 4, 5],
})}`;
}

/** The log tells of each model; what a member's own count has beyond that was taken by its sub-agents. */
function rowsOf(logged: TeamPage["chronicle"]["spending"]["rows"], { lead, members }: TeamPage["report"]["status"]): Row[] {
  const counts = new Map([[LEAD, lead?.spent], ...members.map(({ name, spent }) => [name, spent] as const)]);
  const names = [...new Set([...counts.keys(), ...logged.map(({ agent }) => agent)])];
  return names.flatMap((who): Row[] => {
    const own = logged.filter(({ agent }) => agent === who).map(({ model, answers, spent }) => ({ who, model, answers, spent }));
    const whole = counts.get(who);
    // The lead's count holds what its integrators took.
    const counted = logged.filter(({ agent }) => agent === who || (who === LEAD && agent === INTEGRATOR));
    const sum = counted.reduce((all, { spent }) => addSpent(all, spent), NOTHING_SPENT);
    const rest = whole ? spentSince(whole, sum) : NOTHING_SPENT;
    const hasRest = tokensIn(rest) > 0 || rest.usage.output > 0;
    return hasRest ? [...own, { who, model: "sub-agents and other calls", spent: rest }] : own;
  });
}

function figures(spent: Spent): string[] {
  return [number(tokensIn(spent)), number(spent.usage.cacheRead), number(spent.usage.output), costOrUnknown(spent)];
}
