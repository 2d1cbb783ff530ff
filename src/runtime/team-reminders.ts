import { headOf } from "../memory/cut.ts";
import { escapeSystemTags } from "../protocol/system-tags.ts";
import { LEAD, type TeamBus, type TeammateInfo, type TeamTask } from "../protocol/team.ts";

const MAX_BYTES = 2_000;
const GOAL_BYTES = 600;
const LINE_BYTES = 160;

/** What a member must still know after a compaction: who it is, who is there, what is open. For a compactor's `preserve`. */
export async function teamReminders(
  { roster, presence, tasks }: TeamBus,
  self: string,
  role: "lead" | "teammate" | "integrator",
  merged: readonly { name: string }[] = [],
): Promise<string[]> {
  const [team, states, all] = await Promise.all([roster.read(), presence.list(), tasks.list()]);
  const stateOf = (name: string) => states.find((state) => state.name === name)?.status ?? "starting";
  const others = team.members.filter((member) => member.name !== self);
  const open = all.filter((task) => task.status === "pending" || task.status === "in_progress");
  const lines = [
    role === "lead"
      ? `You are the lead of the team "${team.name}".`
      : `You are ${self}, ${role} in the team "${team.name}"; ${LEAD} leads it.`,
    ...(role === "lead" ? [`The goal: ${cut(team.goal, GOAL_BYTES)}`] : []),
    ...(merged.length > 0 ? [`Merged by the last Converge: ${merged.map(({ name }) => name).join(", ")}.`] : []),
    ...(others.length > 0 ? ["Teammates:", ...others.map((member) => memberLine(member, stateOf(member.name)))] : ["No other teammates."]),
    ...(open.length > 0 ? ["Open tasks:", ...open.map(taskLine)] : ["No open tasks."]),
  ];
  return [escapeSystemTags(bounded(lines))];
}

function memberLine({ name, branch }: TeammateInfo, state: string): string {
  return cut(`- ${name}: ${state}, branch ${branch}`, LINE_BYTES);
}

function taskLine({ id, status, owner, subject }: TeamTask): string {
  return cut(`- ${id} ${status}${owner === undefined ? "" : ` (${owner})`}: ${subject.replaceAll("\n", " ")}`, LINE_BYTES);
}

/** Whole lines only; room is kept for the words that say how many are missing, and for what escaping adds. */
function bounded(lines: readonly string[]): string {
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += size(escapeSystemTags(line)) + 1;
    if (bytes > MAX_BYTES - 80) break;
    kept.push(line);
  }
  const missing = lines.length - kept.length;
  return [...kept, ...(missing > 0 ? [`(${missing} more lines; TaskList shows the tasks.)`] : [])].join("\n");
}

function cut(text: string, maxBytes: number): string {
  let shown = headOf(text, maxBytes);
  while (size(shown) > maxBytes) shown = headOf(shown, Math.floor(shown.length * 0.9));
  return shown === text ? text : `${shown} …`;
}

function size(text: string): number {
  return Buffer.byteLength(text);
}
