import { escapeHtml } from "../../platform/html.ts";
import { type TeamStatus, taskMark } from "../../runtime/team-status.ts";
import { scrolls } from "./table.ts";
import { bare } from "./texts.ts";

type Task = TeamStatus["tasks"][number];
type Place = { task: Task; column: number; row: number };

/** A picture of more is no help any more; the levels are written out instead. */
const MOST_DRAWN = 80;
const BOX = { width: 190, height: 46, gapX: 46, gapY: 14 };

/** Which task waits for which: drawn from left to right, or as a list of levels where there are many. */
export function taskGraph(tasks: readonly Task[]): string {
  if (!tasks.some((task) => task.blockedBy.length > 0)) return tasks.length > 1 ? "<p>No task waits for another.</p>" : "";
  const levels = levelsOf(tasks);
  return tasks.length > MOST_DRAWN ? levelList(levels) : picture(levels);
}

/** The first level waits for nothing, each other one for tasks of the levels before it. */
function levelsOf(tasks: readonly Task[]): Task[][] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const levels = new Map<string, number>();
  const levelOf = (id: string, above: ReadonlySet<string>): number => {
    const known = levels.get(id);
    if (known !== undefined) return known;
    const blockers = (byId.get(id)?.blockedBy ?? []).filter((one) => byId.has(one) && !above.has(one));
    const level = blockers.length === 0 ? 0 : 1 + Math.max(...blockers.map((one) => levelOf(one, new Set([...above, id]))));
    levels.set(id, level);
    return level;
  };
  const found: Task[][] = [];
  for (const task of tasks) {
    const level = levelOf(task.id, new Set([task.id]));
    found[level] = [...(found[level] ?? []), task];
  }
  return Array.from(found, (level) => level ?? []);
}

function levelList(levels: readonly Task[][]): string {
  const item = ({ id, blockedBy }: Task) =>
    `<a href="#task-${escapeHtml(id)}">${escapeHtml(id)}</a>${blockedBy.length > 0 ? ` <span class="note">after ${escapeHtml(blockedBy.join(", "))}</span>` : ""}`;
  return `<details id="levels"><summary>Which task waits for which, in ${levels.length} levels</summary><ol>
${levels.map((level) => `<li>${level.map(item).join("; ")}</li>`).join("\n")}
</ol></details>`;
}

function picture(levels: readonly Task[][]): string {
  const places = new Map<string, Place>();
  for (const [column, level] of levels.entries()) {
    // Beside what they wait for, lines cross less.
    const sorted = [...level].sort((a, b) => middleOf(a, places) - middleOf(b, places));
    for (const [row, task] of sorted.entries()) places.set(task.id, { task, column, row });
  }
  const width = levels.length * (BOX.width + BOX.gapX) - BOX.gapX + 2;
  const height = Math.max(...levels.map((level) => level.length)) * (BOX.height + BOX.gapY) - BOX.gapY + 2;
  const all = [...places.values()];
  const label = "Tasks from left to right; a line leads from a task to the one that waits for it.";
  return `${scrolls("graph", "Task graph")}<svg class="graph" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label} The table below has the same.">
${all.flatMap((place) => place.task.blockedBy.flatMap((id) => lineTo(places.get(id), place))).join("\n")}
${all.map(box).join("\n")}
</svg></div>`;
}

function middleOf({ blockedBy }: Task, places: ReadonlyMap<string, Place>): number {
  const rows = blockedBy.flatMap((id) => places.get(id)?.row ?? []);
  return rows.length === 0 ? 0 : rows.reduce((sum, row) => sum + row, 0) / rows.length;
}

function corner({ column, row }: Place): { x: number; y: number } {
  return { x: 1 + column * (BOX.width + BOX.gapX), y: 1 + row * (BOX.height + BOX.gapY) };
}

function lineTo(from: Place | undefined, to: Place): string[] {
  if (!from) return [];
  const [a, b] = [corner(from), corner(to)];
  const [x1, y1, x2, y2] = [a.x + BOX.width, a.y + BOX.height / 2, b.x, b.y + BOX.height / 2];
  const bend = BOX.gapX * 0.6;
  return [`<path class="wait" d="M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}"/>`];
}

/** A picture of its own for each, so that long words end at its border. */
function box(place: Place): string {
  const { id, subject, status, owner } = place.task;
  const { x, y } = corner(place);
  return `<svg x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}"><title>${escapeHtml(id)} ${bare(subject)}: ${statusWords(status)}</title><rect class="box ${status}" x="1" y="1" width="${BOX.width - 2}" height="${BOX.height - 2}" rx="5"/><text x="8" y="19">${escapeHtml(id)} ${bare(subject, 22)}</text><text class="quiet" x="8" y="36">${taskMark(status)} ${statusWords(status)}${owner ? ` · ${bare(owner, 16)}` : ""}</text></svg>`;
}

export function statusWords(status: Task["status"]): string {
  return status.replace("_", " ");
}
