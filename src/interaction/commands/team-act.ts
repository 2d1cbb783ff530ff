import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "../../platform/process.ts";
import { stopTree } from "../../platform/process-tree.ts";
import { UserError } from "../../protocol/errors.ts";
import { LEAD, type MemberStatus } from "../../protocol/team.ts";
import { type Check, fail } from "../../runtime/doctor/check.ts";
import { teamFolder, teamNames } from "../../runtime/find-team.ts";
import type { Surroundings } from "../../runtime/surroundings.ts";
import { cleanUp } from "../../runtime/team-clean.ts";
import { stateOf } from "../../runtime/team-status.ts";
import { agentNameRegistry } from "../../team/agent-name-registry.ts";
import { openTeamBus, readTeam } from "../../team/bus/team-bus.ts";
import { TeamLog } from "../../team/team-log.ts";
import { behind } from "../../team/unread-text.ts";
import { checkLine } from "./check-line.ts";

type Output = (text: string) => void;
const STOP_MS = 40_000;

export async function sendToMember(
  surroundings: Surroundings,
  name: string,
  to: string,
  text: string,
  { json, interrupt }: { json: boolean; interrupt: boolean },
  write: Output,
): Promise<number> {
  const folder = await teamFolder(surroundings.data, name);
  const { team, presence } = await readTeam(folder);
  const member = agentNameRegistry(team).get(to);
  if (member === undefined || member === LEAD) {
    throw new UserError(
      `"${to}" is no teammate of team "${name}". Teammates: ${team.members.map((one) => one.name).join(", ") || "none yet"}.`,
    );
  }
  if (text.trim() === "") throw new UserError("The message is empty.");
  // A person at a terminal speaks with the lead's voice: teammates take work from it.
  await using bus = await openTeamBus({ teamFolder: folder, self: { name: LEAD, epoch: 1 } });
  const summary = text.split(/\s+/).slice(0, 8).join(" ").slice(0, 100);
  const before = await bus.mailbox.waitingFor(member);
  const id = await bus.mailbox.send(member, { type: "message", summary, text, ...(interrupt ? { interrupt } : {}) });
  const log = new TeamLog(folder, (problem) => process.stderr.write(`${problem}\n`));
  log.add(LEAD, { type: "message", from: LEAD, to: member, summary, kind: "message" });
  await log.flush();
  const state = stateOf(
    team.members.find((one) => one.name === member),
    presence.find((one) => one.name === member),
  );
  write(
    json
      ? `${JSON.stringify({ id, to: member, delivered: true, state, behind: before.count, interrupt })}\n`
      : `Delivered to ${member}${behind(before)}, ${whenRead(name, member, state, interrupt)}\n`,
  );
  return 0;
}

function whenRead(team: string, member: string, state: MemberStatus, interrupt: boolean): string {
  if (interrupt && (state === "busy" || state === "waiting")) return "whose turn is ended: it reads this first.";
  if (state !== "stopped" && state !== "failed" && state !== "dead") return `who is ${state}.`;
  return `who is ${state} and reads it when started again: by the lead, or by roocode worker --team ${team} --name ${member}`;
}

/** Asks the lead to end its team, as Ctrl+C does; without a lead, each member. All work is committed by then. */
export async function stopTeam(surroundings: Surroundings, name: string, json: boolean, write: Output): Promise<number> {
  const folder = await teamFolder(surroundings.data, name);
  const { team } = await readTeam(folder);
  const leadProcess = team.lead?.process;
  if (team.lead?.session !== undefined && isAlive(team.lead.process))
    throw new UserError(
      `The lead of team "${name}" lives in a session (pid ${team.lead.process.pid}), which must not end with it. Tell the agent there to stop the team, or end that session with /exit.`,
    );
  if (leadProcess && isAlive(leadProcess)) process.kill(leadProcess.pid, "SIGINT");
  else {
    await using bus = await openTeamBus({ teamFolder: folder, self: { name: LEAD, epoch: 1 } });
    for (const member of team.members) {
      if (member.process && isAlive(member.process))
        await bus.mailbox.send(member.name, { type: "shutdown_request", text: "stopped by hand" });
    }
  }
  const until = Date.now() + STOP_MS;
  const living = () => [leadProcess, ...team.members.map((member) => member.process)].filter((one) => one !== undefined && isAlive(one));
  while (living().length > 0 && Date.now() < until) await sleep(100);
  const forced = living();
  for (const one of forced) if (one) await stopTree(one.pid);
  const text = `Team ${name} is stopped${forced.length > 0 ? `; ${forced.length} processes had to be ended` : ""}. Go on with: roocode team resume ${name}`;
  write(json ? `${JSON.stringify({ team: name, stopped: true, forced: forced.length })}\n` : `${text}\n`);
  return 0;
}

export async function cleanCommand(
  surroundings: Surroundings,
  name: string,
  options: { json: boolean; force: boolean },
  write: Output,
): Promise<number> {
  const { removed, kept, text } = await cleanUp(surroundings, name, options.force);
  write(options.json ? `${JSON.stringify({ team: name, removed, kept })}\n` : `${text}\n`);
  return kept.length > 0 ? 3 : 0;
}

/** Of one team, or of all. Exit code 1 when something is wrong that `fix` did not mend. */
export async function teamDoctor(
  surroundings: Surroundings,
  name: string | undefined,
  { json, fix }: { json: boolean; fix: boolean },
  write: Output,
): Promise<number> {
  const { data } = surroundings;
  const folders = name === undefined ? (await teamNames(data)).map((one) => data.team(one)) : [await teamFolder(data, name)];
  const { examineTeam } = await import("../../runtime/team-doctor.ts");
  const checks: Check[] = [];
  for (const folder of folders)
    checks.push(
      ...(await examineTeam(surroundings, folder, fix).catch((error: unknown): Check[] => {
        // Of all teams, one that can't be read must not hide the others.
        if (!(error instanceof UserError) || name !== undefined) throw error;
        return [fail(basename(folder), "it can't be read.", error.message)];
      })),
    );
  const isFine = checks.every(({ status }) => status === "ok");
  if (json) write(`${JSON.stringify({ ok: isFine, checks })}\n`);
  else write(checks.length === 0 ? "No teams.\n" : checks.map((check) => `${checkLine(check)}\n`).join(""));
  return isFine ? 0 : 1;
}
