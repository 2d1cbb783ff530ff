import { commitsSince } from "../platform/commit.ts";
import { changedFiles } from "../platform/git.ts";
import { stopTree } from "../platform/process-tree.ts";
import type { TeamBus, TeammateInfo, TeamStep } from "../protocol/team.ts";
import { endLeftCommands } from "./left-commands.ts";
import { releaseDead } from "./release-dead.ts";
import { UnreachableWatch } from "./unreachable-watch.ts";

const END_GRACE_MS = 10_000;

/**
 * Finds members whose process is gone though nobody stopped it, or suspended for long. Each death is told once a start: the tasks it held go back to
 * the list, and the lead gets a text that says how it ended and what is on its branch.
 */
export class DeathWatch {
  readonly #bus: TeamBus;
  /** Undefined while it lives. */
  readonly #howItEnded: (member: TeammateInfo) => Promise<string | undefined>;
  readonly #onStep: (step: TeamStep) => void;
  readonly #told = new Set<string>();
  readonly #unreachable: UnreachableWatch;
  readonly #endSuspendedMs: number | undefined;

  /** `endSuspendedMs`: where no person is who could let a suspended process go on, it is ended after that time. */
  constructor(
    bus: TeamBus,
    howItEnded: (member: TeammateInfo) => Promise<string | undefined>,
    onStep: (step: TeamStep) => void,
    { unreachable = new UnreachableWatch(), endSuspendedMs }: { unreachable?: UnreachableWatch; endSuspendedMs?: number | undefined } = {},
  ) {
    this.#endSuspendedMs = endSuspendedMs;
    this.#unreachable = unreachable;
    this.#bus = bus;
    this.#howItEnded = howItEnded;
    this.#onStep = onStep;
  }

  /** Texts for the lead about members that died, or did not run for a while, since the last look. */
  async look(): Promise<string[]> {
    const states = await this.#bus.presence.list();
    const gone = new Set(states.filter((state) => ["dead", "stopped", "failed"].includes(state.status)).map((state) => state.name));
    const dead = new Set(states.filter((state) => state.status === "dead").map((state) => state.name));
    const isHeld = states.some((state) => state.status === "unreachable");
    const texts = this.#unreachable.look(states, isHeld ? await this.#bus.tasks.list() : []);
    const { members } = await this.#bus.roster.read();
    texts.push(...(await this.#endSuspended(members)));
    for (const member of members) {
      const key = `${member.name}.${member.epoch}`;
      if (this.#told.has(key) || (gone.has(member.name) && !dead.has(member.name))) continue;
      // A member that has not reported ready is the spawn's matter.
      const isInside = member.backendType === "in-process" && member.process !== undefined;
      if (!dead.has(member.name) && !isInside) continue;
      const how = await this.#howItEnded(member);
      if (how === undefined) continue;
      this.#told.add(key);
      this.#onStep({ type: "dead", name: member.name, how });
      await endLeftCommands(member);
      const left = await describeWork(member);
      // By name, not by process: teammates inside the lead share its pid.
      const released = await releaseDead(
        this.#bus.tasks,
        (claim) => claim.owner !== member.name,
        async () => left,
      );
      const tasks = released.length > 0 ? ` Back on the list: ${released.map((task) => `${task.id} (${task.subject})`).join(", ")}.` : "";
      texts.push(
        `<task-notification from="${member.name}" status="dead">\n${member.name}'s process is gone: ${how}. ${left}${tasks} A message to ${member.name} starts it again with all it knew.\n</task-notification>`,
      );
    }
    return texts;
  }

  /** Asked by the signal that also lets it go on, it saves its work and gives its tasks back; else it is killed, and found dead. */
  async #endSuspended(members: readonly TeammateInfo[]): Promise<string[]> {
    const texts: string[] = [];
    for (const name of this.#endSuspendedMs === undefined ? [] : this.#unreachable.heldFor(this.#endSuspendedMs)) {
      const pid = members.find((member) => member.name === name)?.process?.pid;
      if (pid === undefined || pid === process.pid) continue;
      await stopTree(pid, END_GRACE_MS);
      texts.push(
        `<task-notification from="${name}" status="stopped">\n${name} was suspended all the time, and nobody is here who could let it go on: it was ended. A message to ${name} starts it again with all it knew.\n</task-notification>`,
      );
    }
    return texts;
  }
}

async function describeWork(member: TeammateInfo): Promise<string> {
  const commits = await commitsSince(member.worktreePath, member.baseCommit).catch(() => []);
  const dirty = await changedFiles(member.worktreePath).catch(() => []);
  const files = dirty.length === 0 ? "no uncommitted files" : `uncommitted: ${dirty.slice(0, 10).join(", ")}`;
  return `Its branch ${member.branch} has ${commits.length} commits; ${files} in ${member.worktreePath}.`;
}
