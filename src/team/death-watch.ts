import { commitsSince } from "../platform/commit.ts";
import { git } from "../platform/git.ts";
import { isAlive } from "../platform/process.ts";
import type { TeamBus, TeammateInfo, TeamStep } from "../protocol/team.ts";
import { releaseDead } from "./release-dead.ts";

/**
 * Finds members whose process is gone though nobody stopped it. Each death is told once a start: the tasks it held go back to
 * the list, and the lead gets a text that says how it ended and what is on its branch.
 */
export class DeathWatch {
  readonly #bus: TeamBus;
  readonly #howItEnded: (member: TeammateInfo) => Promise<string>;
  readonly #onStep: (step: TeamStep) => void;
  readonly #told = new Set<string>();

  constructor(bus: TeamBus, howItEnded: (member: TeammateInfo) => Promise<string>, onStep: (step: TeamStep) => void) {
    this.#bus = bus;
    this.#howItEnded = howItEnded;
    this.#onStep = onStep;
  }

  /** Texts for the lead about members that died since the last look. */
  async look(): Promise<string[]> {
    const states = await this.#bus.presence.list();
    const dead = new Set(states.filter((state) => state.status === "dead").map((state) => state.name));
    if (dead.size === 0) return [];
    const texts: string[] = [];
    for (const member of (await this.#bus.roster.read()).members) {
      const key = `${member.name}.${member.epoch}`;
      if (!dead.has(member.name) || this.#told.has(key)) continue;
      this.#told.add(key);
      const how = await this.#howItEnded(member);
      this.#onStep({ type: "dead", name: member.name, how });
      const left = await describeWork(member);
      const released = await releaseDead(this.#bus.tasks, isAlive, async () => left);
      const tasks = released.length > 0 ? ` Back on the list: ${released.map((task) => `${task.id} (${task.subject})`).join(", ")}.` : "";
      texts.push(
        `<task-notification from="${member.name}" status="dead">\n${member.name}'s process is gone: ${how}. ${left}${tasks} A message to ${member.name} starts it again with all it knew.\n</task-notification>`,
      );
    }
    return texts;
  }
}

async function describeWork(member: TeammateInfo): Promise<string> {
  const commits = await commitsSince(member.worktreePath, member.baseCommit).catch(() => []);
  const status = await git(member.worktreePath, ["status", "--porcelain"]);
  const dirty = status.stdout.split("\n").filter((line) => line !== "");
  const files =
    dirty.length === 0
      ? "no uncommitted files"
      : `uncommitted: ${dirty
          .slice(0, 10)
          .map((line) => line.slice(3))
          .join(", ")}`;
  return `Its branch ${member.branch} has ${commits.length} commits; ${files} in ${member.worktreePath}.`;
}
