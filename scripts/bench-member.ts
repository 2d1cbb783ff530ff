// A member of a team as a process of its own, for bench-bus.mjs: `send`, `read` or `claim` on the team's files. It may be killed at any
// time; started again, it goes on. What it did stands in LOG, a line each.
import { appendFileSync, readFileSync } from "node:fs";
import { isAlive, selfIdentity } from "../src/platform/process.ts";
import { LEAD } from "../src/protocol/team.ts";
import { createFileTeam, type FileBus, openFileBus } from "../src/team/bus/file/open.ts";
import { MailReader } from "../src/team/mail-reader.ts";
import { releaseDead } from "../src/team/release-dead.ts";
import { taskUpdateTool } from "../src/team/tools/task-update.ts";
import { sampleTeam } from "../test/team/bus/sample-team.ts";

const [action = "", teamFolder = "", ...rest] = process.argv.slice(2);
if (action === "make") await make(rest.slice(0, -1), Number(rest.at(-1)));
else await live(rest);

async function make(names: readonly string[], tasks: number): Promise<void> {
  await createFileTeam(teamFolder, sampleTeam(...names));
  await using bus = await openFileBus({ teamFolder, self: { name: LEAD, epoch: 1 } });
  for (let number = 1; number <= tasks; number += 1) await bus.tasks.create({ subject: `task ${number}`, description: "", blockedBy: [] });
}

async function live([name = "", epoch = "1", log = "", first = "1", last = "1"]: readonly string[]): Promise<void> {
  const note = (line: string) => appendFileSync(log, `${line}\n`);
  const onBad = ({ reason }: { reason: string }) => note(`refused ${reason}`);
  await using bus = await openFileBus({ teamFolder, self: { name, epoch: Number(epoch) }, onBad });
  if (action === "send") await send(bus, note, name, Number(first), Number(last));
  if (action === "read") await read(bus, note, name, readFileSync(log, "utf8"));
  if (action === "claim") await claim(bus, note, name);
  // The channel to the bench would hold the process.
  process.disconnect?.();
}

type Note = (line: string) => void;

async function send(bus: FileBus, note: Note, name: string, first: number, last: number): Promise<void> {
  for (let number = first; number <= last; number += 1) {
    const id = await bus.mailbox.send(LEAD, { type: "message", summary: "a number", text: `${name} ${number} ${"x".repeat(300)}` });
    note(`sent ${number} ${id}`);
  }
}

/** As an agent does: taken, written to the transcript, acknowledged. A new one knows what the transcript holds. */
async function read(bus: FileBus, note: Note, name: string, log: string): Promise<void> {
  const known = log.split("\n");
  const seen = new Set(known.flatMap((line) => (line.startsWith("context ") ? line.slice("context ".length).split(" ") : [])));
  const { mailbox } = bus;
  const mail = new MailReader({
    mailbox,
    self: name,
    seen,
    onProtocol: async () => undefined,
    onSetAside: (_, reason) => note(`refused ${reason}`),
  });
  const ended = new AbortController();
  process.once("SIGTERM", () => ended.abort());
  if (seen.size > 0) await mailbox.acknowledge([...seen]);
  void mail.pump(ended.signal);
  while (!ended.signal.aborted) {
    await mail.untilWork(ended.signal);
    const pending = await mail.take();
    if (!pending || pending.mail.length === 0) continue;
    note(`context ${pending.mail.join(" ")}`);
    await mail.acknowledge(pending.mail);
  }
}

async function claim(bus: FileBus, note: Note, name: string): Promise<void> {
  const { tasks } = bus;
  const tool = taskUpdateTool({
    tasks,
    self: name,
    role: "teammate",
    process: selfIdentity(),
    team: bus,
    beforeComplete: async () => ({ ok: true, commit: "c".repeat(40) }),
  });
  const context = { cwd: "/", callId: "1", signal: new AbortController().signal, progress: () => undefined };
  const run = async (input: Record<string, unknown>) => !(await tool.run(tool.parse(input), context)).isError;
  for (;;) {
    const all = await tasks.list();
    const open = all.filter(({ status }) => status === "pending");
    const task = open[Math.floor(Math.random() * Math.min(open.length, 24))];
    if (task === undefined) {
      if (all.every(({ status }) => status === "completed")) return;
      await releaseDead(tasks, isAlive);
      continue;
    }
    if (!(await run({ taskId: task.id, owner: name, status: "in_progress" }))) continue;
    note(`claimed ${task.id} ${process.pid}`);
    if (await run({ taskId: task.id, status: "completed" })) note(`completed ${task.id} ${process.pid}`);
  }
}
