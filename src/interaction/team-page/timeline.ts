import { escapeHtml } from "../../platform/html.ts";
import type { TeamPage } from "../../runtime/team-page/read-page.ts";
import type { Claim, Span } from "../../runtime/team-page/spans.ts";
import { bare, clock, counted, duration, shown, shownLine } from "./texts.ts";

type Bar = Span & { kind: string; title: string };
type Scale = { from: number; to: number };
type Row = { head: string; bars: readonly Bar[]; figure: string };

/** Nearer to each other than this part of the whole, two spans are drawn as one: so a row has some hundred bars at most. */
const NEAR = 0.003;
/** More tasks are folded: what comes after them is read too. */
const MOST_OPEN = 60;

export function timelineSection({ chronicle, report, at }: TeamPage): string {
  const { from, to } = chronicle;
  if (from === undefined || to === undefined) return "<p>Nothing has happened yet.</p>";
  const end = chronicle.outcome || !report.status.lead?.alive ? Date.parse(to) : at.getTime();
  const scale = { from: Date.parse(from), to: Math.max(end, Date.parse(from) + 1) };
  const names = [...new Set([...report.members.map(({ name }) => name), ...chronicle.busy.agents])];
  const members = names.map((name): Row => {
    const spans = chronicle.busy.of(name, scale.to);
    const busy = spans.reduce((sum, span) => sum + span.to - span.from, 0);
    const bars = joined(spans, scale).map((span) => ({ ...span, kind: "busy", title: `at work ${between(span)}` }));
    return { head: shown(name, 40), bars, figure: `${duration(busy)}<br><span class="note">${counted(spans.length, "run")}</span>` };
  });
  const merges = mergeRow(chronicle, scale);
  const claims = chronicle.claims.byTask(scale.to);
  const tasks = report.status.tasks.map(
    ({ id, subject, status, attempts }): Row => ({
      head: `<a href="#task-${escapeHtml(id)}">${escapeHtml(id)}</a> ${shownLine(subject, 80)}`,
      bars: (claims.get(id) ?? []).map((claim) => ({ ...claim, ...claimLook(claim) })),
      figure: claimText(claims.get(id), status, attempts),
    }),
  );
  return `${lanes("Members: when each was at work", "Member", [...members, ...(merges ? [merges] : [])], scale)}
${taskLanes(tasks, scale)}`;
}

function taskLanes(tasks: readonly Row[], scale: Scale): string {
  if (tasks.length === 0) return "<p>There are no tasks.</p>";
  const table = lanes("Tasks: from claim to completion", "Task", tasks, scale);
  return tasks.length <= MOST_OPEN
    ? table
    : `<details id="task-lanes"><summary>The ${tasks.length} tasks: from claim to completion</summary>${table}</details>`;
}

function lanes(caption: string, what: string, rows: readonly Row[], scale: Scale): string {
  const middle = (scale.from + scale.to) / 2;
  const axis = `<svg class="axis" width="100%" height="14" aria-hidden="true"><text x="0" y="11">${clock(scale.from)}</text><text x="50%" y="11" text-anchor="middle">${clock(middle)}</text><text x="100%" y="11" text-anchor="end">${clock(scale.to)}</text></svg>`;
  return `<table class="lanes"><caption>${caption} (${clock(scale.from)} to ${clock(scale.to)} UTC)</caption>
<thead><tr><th scope="col">${what}</th><th scope="col"><span class="hidden">Time</span>${axis}</th><th scope="col" class="figure">Sum</th></tr></thead>
<tbody>
${rows.map(({ head, bars, figure }) => `<tr><th scope="row">${head}</th><td class="lane">${drawn(bars, scale)}</td><td class="figure">${figure}</td></tr>`).join("\n")}
</tbody></table>`;
}

function drawn(bars: readonly Bar[], { from, to }: Scale): string {
  const percent = (ms: number) => `${((100 * ms) / (to - from)).toFixed(2)}%`;
  const rects = bars.map(
    (bar) =>
      `<rect class="${bar.kind}" x="${percent(Math.max(0, bar.from - from))}" y="2" width="${percent(Math.max(bar.to - bar.from, (to - from) * NEAR))}" height="12"><title>${bare(bar.title)}</title></rect>`,
  );
  return `<svg width="100%" height="16" role="img" aria-label="${spoken(bars)}">${rects.join("")}</svg>`;
}

/** What the bars say, for those who do not see them. */
function spoken(bars: readonly Bar[]): string {
  if (bars.length === 0) return "nothing";
  const more = bars.length > 5 ? ` and ${bars.length - 5} more` : "";
  return (
    bars
      .slice(0, 5)
      .map(({ title }) => bare(title))
      .join("; ") + more
  );
}

function joined(spans: readonly Span[], { from, to }: Scale): Span[] {
  const found: Span[] = [];
  for (const span of spans) {
    const last = found.at(-1);
    if (last && span.from - last.to < (to - from) * NEAR) last.to = Math.max(last.to, span.to);
    else found.push({ ...span });
  }
  return found;
}

function mergeRow({ convergence }: TeamPage["chronicle"], scale: Scale): Row | undefined {
  const bars = convergence.flatMap(({ at, step }): Bar[] => {
    const time = Date.parse(at);
    if (step.type !== "merge") return [];
    const isBad = step.conflict !== undefined || step.refused !== undefined;
    const what = step.refused !== undefined ? "taken back: merge of" : step.conflict ? "conflict: merge of" : "merged";
    const width = (scale.to - scale.from) * NEAR;
    return [
      { from: Math.min(time, scale.to - width), to: time, kind: isBad ? "warn" : "good", title: `${what} ${step.name} at ${clock(time)}` },
    ];
  });
  const merged = convergence.filter(({ step }) => step.type === "merge" && step.commit !== undefined).length;
  return bars.length === 0 ? undefined : { head: "<em>merges</em>", bars, figure: counted(merged, "merge") };
}

function claimLook(claim: Claim): { kind: string; title: string } {
  const by = claim.owner === undefined ? "" : ` by ${claim.owner}`;
  const title = `${claim.end ?? "in progress"}${by}, ${between(claim)}`;
  switch (claim.end) {
    case undefined:
    case "in_progress":
      return { kind: "busy", title };
    case "completed":
      return { kind: "good", title };
    case "failed":
    case "died":
      return { kind: "bad", title };
    case "pending":
    case "cancelled":
    case "passed on":
      return { kind: "warn", title };
  }
}

function claimText(claims: readonly Claim[] = [], status: string, attempts: number): string {
  const last = claims.at(-1);
  if (!last) return `<span class="note">${status}</span>`;
  const time = claims.reduce((sum, claim) => sum + claim.to - claim.from, 0);
  const tries = attempts > 1 ? `, attempt ${attempts}` : "";
  return `${duration(time)}<br><span class="note">${shown(last.owner ?? "", 40)}${tries}</span>`;
}

function between({ from, to }: Span): string {
  return `${clock(from)} to ${clock(to)} (${duration(to - from)})`;
}
