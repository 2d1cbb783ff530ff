import type { TeamPage } from "../../runtime/team-page/read-page.ts";
import { table } from "./table.ts";
import { counted, leftOut, number, shown, shownLine, timeTag } from "./texts.ts";

export function permissionsSection({ decisions }: TeamPage): string {
  const { total, layers, notable, notableCount, problem } = decisions;
  if (problem !== undefined) return `<p>${shown(problem, 400)}</p>`;
  if (total === 0) return "<p>Nothing was decided yet.</p>";
  const items = notable.map(({ at, agent, tool, subject, decision, layer = "", reason = "", rule, asked }) => {
    const word = decision === "allow" ? '<span class="is-good">allowed</span>' : '<span class="is-bad">denied</span>';
    const question = asked ? `asked (${shown(asked.layer, 20)}: ${shownLine(asked.reason)}), then ` : "";
    return `<li>${timeTag(at)} <b>${shown(agent, 80)}</b> ${shown(tool, 80)}(<code>${shownLine(subject, 300)}</code>): ${question}${word} by layer ${shown(layer, 20)}: ${shownLine(reason, 300)}${rule === undefined ? "" : `, rule <code>${shownLine(rule)}</code>`}</li>`;
  });
  return `<p>${counted(total, "decision")}; ${counted(notableCount, "denial or question", "denials and questions")}.</p>
${table({
  caption: "Decisions by the layer that made them; asked: by the layer that wanted a person's word first",
  id: "layers",
  head: ["Layer", "Allowed", "Denied", "Asked"],
  rows: layers.map(({ layer, allowed, denied, asked }) => [shown(layer, 20), number(allowed), number(denied), number(asked)]),
  figures: [1, 2, 3],
})}
${notable.length === 0 ? "" : `<h3>Denials and questions</h3>${leftOut(notableCount - notable.length, "earlier ones are not on this page.")}<ol class="steps">\n${items.join("\n")}\n</ol>`}`;
}
