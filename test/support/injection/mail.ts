import { spawn } from "node:child_process";
import { chmod, chown, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gitText } from "../../../src/platform/git.ts";
import { selfIdentity } from "../../../src/platform/process.ts";
import { LEAD, type TeammateInfo, type TeamTask } from "../../../src/protocol/team.ts";
import { teamLayout } from "../../../src/team/bus/file/layout.ts";
import { macOf, openMailKeys } from "../../../src/team/bus/file/mail-keys.ts";
import { createFileTeam, openFileBus } from "../../../src/team/bus/file/open.ts";
import { eventually } from "../eventually.ts";
import type { FakeModel } from "../fake-model.ts";
import type { Place } from "./case.ts";

const BIN = decodeURIComponent(new URL("../../../bin/roocode.js", import.meta.url).pathname);

export type MailPlay = {
  output: string;
  /** Bodies' types, or undefined where there is none, of what was set aside, by file name. */
  quarantined: (string | undefined)[];
  /** Files of the case that could not be made here: that of another user. */
  leftOut: number;
  /** What the model was asked from the moment that the mail of the case was there. */
  requests: string[];
  /** Types of events in the team's log. */
  logged: string[];
  /** Words to the lead about bad mail. */
  toldLead: number;
  member: TeammateInfo | undefined;
  wasAlive: boolean;
  tasks: TeamTask[];
};

/** A real teammate that joined by hand; the test is its lead, and puts the case's mail into its box while it is idle. */
export async function playMail({ given, repo, data }: Place, model: FakeModel, env: Record<string, string>): Promise<MailPlay> {
  const { self = "alice", others = [] } = given.team ?? {};
  const folder = join(data, "teams", "inj");
  const layout = teamLayout(folder);
  const baseCommit = await gitText(repo, ["rev-parse", "HEAD"]);
  await createFileTeam(folder, {
    name: "inj",
    goal: "wait",
    leadAgentId: `${LEAD}@inj`,
    repoRoot: repo,
    baseBranch: "main",
    baseCommit,
    members: others.map((name) => absentMember(name, baseCommit)),
    lead: { process: selfIdentity(), permissionMode: given.mode },
  });
  await using lead = await openFileBus({ teamFolder: folder, self: { name: LEAD, epoch: 1 } });
  const child = spawn(process.execPath, [BIN, "worker", "--team", "inj", "--name", self], {
    cwd: repo,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const ended = new Promise((resolve) => child.on("close", resolve));
  try {
    const fromSelf = async () => (await lead.mailbox.unread()).filter(({ from }) => from === self);
    const idleCount = async () => (await fromSelf()).filter(({ body }) => body.type === "idle_notification").length;
    const hasRested = async () => (await lead.presence.list()).find(({ name }) => name === self)?.status === "idle";
    await eventually(async () => (await idleCount()) === 1 && (await hasRested()), 60_000).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${output}`);
    });
    const taskId = await claimedTask();
    const before = model.proxy.captures.length;

    // The named sender has a key: a wrong code is refused for itself.
    const keys = openMailKeys(layout);
    await keys.own(LEAD);
    let leftOut = 0;
    for (const { name, uid, mode, text } of given.inboxRaw) {
      if (uid === "other" && process.getuid?.() !== 0) {
        leftOut += 1;
        continue;
      }
      // Made aside, so that it is never seen half made.
      const aside = join(layout.inbox(self, "tmp"), name);
      await writeFile(aside, text);
      await chmod(aside, Number.parseInt(mode, 8));
      if (uid === "other") await chown(aside, 12_345, 12_345);
      await moveInto(aside, name);
    }
    for (const [index, { from, ...body }] of given.inboxFrom.entries()) {
      const seq = index + 1;
      const envelope = { version: 1, id: `${from}.1.${seq}`, epoch: 1, seq, from, to: self, at: new Date().toISOString(), body };
      const name = `${String(seq).padStart(3, "0")}.json`;
      const aside = join(layout.inbox(self, "tmp"), name);
      await writeFile(aside, JSON.stringify({ ...envelope, mac: macOf(envelope, await keys.own(from)) }), { mode: 0o600 });
      await moveInto(aside, name);
    }
    const badFiles = async () => (await readdir(layout.inbox(self, "bad"))).sort();
    const left = async () => (await readdir(layout.inbox(self, "new"))).filter((name) => !name.startsWith("."));
    const information = given.inboxFrom.filter(({ type }) => type === "status_update").length;
    await eventually(async () => (await left()).length === information);

    // An honest word of the lead wakes it: what it reads then is all that was delivered, and had anything woken it before, a request more.
    await lead.mailbox.send(self, { type: "message", summary: "are you there", text: "Are you there?" });
    await eventually(async () => model.proxy.captures.length > before && (await left()).length === 0 && (await hasRested()));
    const told = await fromSelf();
    const wasAlive = child.exitCode === null;
    const member = (await lead.roster.read()).members.find(({ name }) => name === self);
    const tasks = await lead.tasks.list();
    await lead.mailbox.send(self, { type: "shutdown_request", text: "the case is over" });
    await ended;
    return {
      output,
      quarantined: await Promise.all((await badFiles()).map((name) => typeIn(join(layout.inbox(self, "bad"), name)))),
      leftOut,
      requests: model.proxy.captures.slice(before).map(({ body }) => body),
      logged: (await readFile(layout.log, "utf8")).split("\n").flatMap((line) => /"event":\{"type":"(\w+)"/.exec(line)?.[1] ?? []),
      toldLead: told.filter(({ body }) => body.type === "status_update" && body.summary.includes("set aside")).length,
      member,
      wasAlive,
      tasks: taskId === undefined ? [] : tasks,
    };
  } finally {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    await ended;
  }

  async function moveInto(aside: string, name: string): Promise<void> {
    const { rename } = await import("node:fs/promises");
    await rename(aside, join(layout.inbox(self, "new"), name));
  }

  /** "(task T2)" in the prompt: the member is at work on a task of this name, as its claim says. */
  async function claimedTask(): Promise<string | undefined> {
    const subject = /\(task (\w+)\)/.exec(given.user)?.[1];
    if (subject === undefined) return undefined;
    const task = await lead.tasks.create({ subject, description: given.user, blockedBy: [] });
    const process = (await lead.roster.read()).members.find(({ name }) => name === self)?.process;
    if (!process) throw new Error(`${self} has no process.`);
    const claim = { owner: self, epoch: task.revision + 1, ...process };
    await lead.tasks.update(task.id, task.revision, { status: "in_progress", owner: self, claim });
    return task.id;
  }
}

function absentMember(name: string, baseCommit: string): TeammateInfo {
  return {
    name,
    agentId: `${name}@inj`,
    agentType: "worker",
    worktreePath: `/nowhere/${name}`,
    branch: `worktree-team-inj+${name}`,
    baseCommit,
    backendType: "process",
    epoch: 1,
    planModeRequired: false,
    permissionMode: "default",
  };
}

async function typeIn(path: string): Promise<string | undefined> {
  const value: unknown = JSON.parse(await readFile(path, "utf8").catch(() => "{}"));
  const body = typeof value === "object" && value !== null && "body" in value ? value.body : undefined;
  return typeof body === "object" && body !== null && "type" in body ? String(body.type) : undefined;
}
