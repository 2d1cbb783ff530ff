import { isAlive, selfIdentity } from "../../platform/process.ts";
import { RevisionConflict } from "../../protocol/errors.ts";
import type { Envelope, Mailbox, Presence, ProcessIdentity, Roster, TaskList, TeamBus, TeamConfig, TeamTask } from "../../protocol/team.ts";
import { changedTask, newTask, TaskRuleError } from "../task-rules.ts";
import { inSenderOrder } from "./mail-order.ts";
import { isNews } from "./message-parts.ts";
import { corrected } from "./presence-truth.ts";
import { checkRecipient } from "./recipients.ts";
import { envelopeId, type PresenceRecord } from "./schemas.ts";

type MemoryOptions = { clock?: () => number; isAlive?: (identity: ProcessIdentity) => boolean };
type Box = { mail: Envelope[]; waiting: Set<() => void> };

/** A team that lives in this process alone; `open` once for each member, again for a member that starts anew. */
export function createMemoryTeam(
  first: Omit<TeamConfig, "version" | "revision">,
  options: MemoryOptions = {},
): { open(self: { name: string; epoch: number }, process?: ProcessIdentity): TeamBus } {
  const clock = options.clock ?? Date.now;
  const roster = memoryRoster(first);
  const tasks = memoryTasks(options.isAlive);
  const presence = new Map<string, PresenceRecord>();
  const boxes = new Map<string, Box>();
  const usedEpochs = new Set<string>();
  return {
    open: (self, process = selfIdentity()) => ({
      roster,
      tasks,
      mailbox: memoryMailbox({ self, roster, boxes, usedEpochs, clock }),
      presence: memoryPresence(presence, process),
      async [Symbol.asyncDispose]() {},
    }),
  };
}

/** Also the list of a plain session, without a team. */
export function memoryTasks(alive: (identity: ProcessIdentity) => boolean = isAlive): TaskList {
  const tasks: TeamTask[] = [];
  return {
    async create(task) {
      const same = task.key === undefined ? undefined : tasks.find((one) => one.key === task.key);
      if (same) return structuredClone(same);
      const made = newTask(String(tasks.length + 1), task, tasks);
      tasks.push(made);
      return structuredClone(made);
    },
    async get(id) {
      return structuredClone(tasks.find((task) => task.id === id));
    },
    async list() {
      return structuredClone(tasks);
    },
    async update(id, revision, patch) {
      const index = tasks.findIndex((task) => task.id === id);
      const task = tasks[index];
      if (!task) throw new TaskRuleError(`There is no task ${id}.`);
      if (task.revision !== revision) throw new RevisionConflict(`Task ${id}`, task.revision);
      const next = changedTask(task, structuredClone(patch), { all: tasks, isAlive: alive });
      tasks[index] = next;
      return structuredClone(next);
    },
  };
}

function memoryRoster(first: Omit<TeamConfig, "version" | "revision">): Roster {
  let team: TeamConfig = structuredClone({ ...first, version: 1, revision: 1 });
  return {
    async read() {
      return structuredClone(team);
    },
    async update(change) {
      team = structuredClone({ ...change(structuredClone(team)), version: 1, revision: team.revision + 1 });
      return structuredClone(team);
    },
  };
}

type MailboxParts = {
  self: { name: string; epoch: number };
  roster: Roster;
  boxes: Map<string, Box>;
  usedEpochs: Set<string>;
  clock: () => number;
};

function memoryMailbox({ self, roster, boxes, usedEpochs, clock }: MailboxParts): Mailbox {
  const own = boxOf(boxes, self.name);
  const shown = new WeakSet<Envelope>();
  let epoch: number | undefined;
  let seq = 0;
  return {
    async send(to, body) {
      checkRecipient(self.name, to, await roster.read());
      epoch ??= takeEpoch(usedEpochs, self);
      seq += 1;
      const id = envelopeId(self.name, epoch, seq);
      const at = new Date(clock()).toISOString();
      const box = boxOf(boxes, to);
      box.mail.push({ version: 1, id, epoch, seq, from: self.name, to, at, body: structuredClone(body) });
      for (const wake of box.waiting) wake();
      return id;
    },
    async unread() {
      for (const envelope of own.mail) shown.add(envelope);
      return structuredClone(inSenderOrder(own.mail));
    },
    async acknowledge(ids) {
      own.mail = own.mail.filter((envelope) => !ids.includes(envelope.id));
    },
    async waitingFor(name) {
      const { mail } = boxOf(boxes, name);
      const oldest = mail.map((envelope) => envelope.at).sort()[0];
      const waking = mail.filter((envelope) => !isNews(envelope.body)).length;
      return { count: mail.length, waking, ...(oldest === undefined ? {} : { oldestAt: oldest }) };
    },
    async arrival(signal) {
      signal.throwIfAborted();
      if (own.mail.some((envelope) => !shown.has(envelope))) return;
      await wokenOrAborted(own.waiting, signal);
      signal.throwIfAborted();
    },
  };
}

async function wokenOrAborted(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      waiting.delete(done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    waiting.add(done);
    signal.addEventListener("abort", done, { once: true });
  });
}

function memoryPresence(records: Map<string, PresenceRecord>, process: ProcessIdentity): Presence {
  return {
    async beat(state) {
      const spent = state.spent ?? records.get(state.name)?.spent;
      records.set(state.name, { ...state, ...(spent ? { spent } : {}), process });
    },
    async list() {
      const sorted = [...records.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      return sorted.map((record) => {
        const { process: _, ...state } = corrected(record);
        return state;
      });
    },
  };
}

function boxOf(boxes: Map<string, Box>, name: string): Box {
  const box = boxes.get(name) ?? { mail: [], waiting: new Set() };
  boxes.set(name, box);
  return box;
}

function takeEpoch(used: Set<string>, self: { name: string; epoch: number }): number {
  let epoch = self.epoch;
  while (used.has(`${self.name}.${epoch}`)) epoch++;
  used.add(`${self.name}.${epoch}`);
  return epoch;
}
