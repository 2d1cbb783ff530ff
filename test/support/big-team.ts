import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NO_USAGE } from "../../src/protocol/model.ts";
import type { TeamConfig, TeamEvent, TeamTask } from "../../src/protocol/team.ts";
import { createFileTeam } from "../../src/team/bus/file/open.ts";
import { sampleTeam } from "../team/bus/sample-team.ts";

type Recorded = {
  team?: Partial<TeamConfig>;
  names?: readonly string[];
  tasks?: readonly Partial<TeamTask>[];
  events?: readonly { seconds: number; agent: string; event: TeamEvent["event"] }[];
  audit?: readonly Record<string, unknown>[];
};

const START = Date.parse("2026-01-01T10:00:00.000Z");

/** The folder of a team as its members would have left it; nobody of it runs. */
export async function recordedTeam(
  folder: string,
  { team, names = ["alice"], tasks = [], events = [], audit = [] }: Recorded,
): Promise<void> {
  await createFileTeam(folder, { ...sampleTeam(...names), ...team });
  const { mkdir } = await import("node:fs/promises");
  for (const [index, task] of tasks.entries()) {
    const id = String(index + 1);
    const whole = { id, revision: 1, subject: `Task ${id}`, description: "", status: "completed", blockedBy: [], attempts: 1, ...task };
    await mkdir(join(folder, "tasks", id), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, "tasks", id, "1.json"), JSON.stringify(whole), { mode: 0o600 });
  }
  const line = (value: unknown) => `${JSON.stringify(value)}\n`;
  const logged = events.map(({ seconds, agent, event }) => line({ at: new Date(START + seconds * 1000).toISOString(), agent, event }));
  await writeFile(join(folder, "log.jsonl"), logged.join(""), { mode: 0o600 });
  await writeFile(join(folder, "audit.jsonl"), audit.map(line).join(""), { mode: 0o600 });
}

/** As much as a team may come to: each message is long, each task waits for another, and there are many denials. */
export async function bigTeam(folder: string, size: { members: number; tasks: number; messages: number; denials: number }): Promise<void> {
  const names = Array.from({ length: size.members }, (_, index) => `member-${index + 1}`);
  const nameOf = (index: number) => names[index % names.length] ?? "member-1";
  const words = "The signature of authenticate() takes a context now, and all who call it must pass one. ".repeat(20);
  const tasks = Array.from({ length: size.tasks }, (_, index) => ({
    subject: `Part ${index + 1} of the work, with words enough to fill a line of a table`,
    description: words,
    owner: nameOf(index),
    blockedBy: index < 20 ? [] : [String(index - 19)],
    commit: "0123456789abcdef",
    note: words,
  }));
  const events: NonNullable<Recorded["events"]>[number][] = [];
  for (let index = 0; index < size.messages; index++) {
    const [from, to] = [nameOf(index), nameOf(index + 1)];
    const summary = `message ${index} about the signature`;
    const call = { type: "tool_use", id: `${index}`, name: "SendMessage", input: { to, summary, message: `${index} ${words}` } } as const;
    const over = { type: "loop_complete", reason: "end_turn", text: "", turns: 1, usage: NO_USAGE } as const;
    events.push({ seconds: index, agent: from, event: { type: "turn_start", turn: 1 } });
    events.push({ seconds: index, agent: from, event: { type: "tool_use", call } });
    events.push({ seconds: index + 0.2, agent: from, event: { type: "message", from, to, summary, kind: "message" } });
    events.push({ seconds: index + 0.5, agent: from, event: over });
    const id = String((index % size.tasks) + 1);
    const status = index < size.tasks ? "in_progress" : "completed";
    events.push({ seconds: index + 0.6, agent: from, event: { type: "task", id, status, owner: from, subject: `Part ${id}` } });
  }
  const audit = Array.from({ length: size.denials }, (_, index) => ({
    ...{ at: "2026-01-01T10:00:00Z", agent: nameOf(index), tool: "Bash", subject: `rm -rf /home/${index} ${words}` },
    ...{ decision: "deny", layer: "danger", reason: `it removes what is not in the workspace; ${words}` },
  }));
  await recordedTeam(folder, { names, tasks, events, audit });
}
