import type { DataPaths } from "../../platform/paths.ts";
import { UserError } from "../../protocol/errors.ts";
import type { TeamEvent } from "../../protocol/team.ts";
import { resultText } from "../../protocol/tool.ts";
import { teamNames, teamRecord } from "../../runtime/find-team.ts";
import { statusText, type TeamStatus, teamStatus, teamStatusWithFiles } from "../../runtime/team-status.ts";
import { retryText } from "../../team/agent-presence.ts";
import { LogReader, logPath, parseLogLine } from "../../team/team-log.ts";
import { plainText } from "../../tools/bash/plain-text.ts";
import { onLostReader } from "../lost-output.ts";
import { stepText } from "../team-screen.ts";

type Output = (text: string) => void;

export async function listTeams(data: DataPaths, json: boolean, write: Output): Promise<number> {
  const names = await teamNames(data);
  const teams: TeamStatus[] = [];
  for (const name of names) {
    try {
      teams.push(await teamStatus(data.team(name)));
    } catch (error) {
      // One team that can't be read must not hide the others.
      if (!(error instanceof UserError)) throw error;
      process.stderr.write(`${name}: ${error.message}\n`);
    }
  }
  if (json)
    write(
      `${JSON.stringify(teams.map(({ team, goal, state, members, tasks }) => ({ team, goal, state, members: members.length, tasks: tasks.length })))}\n`,
    );
  else if (names.length === 0) write('No teams. Start one with: roocode team "goal"\n');
  else
    for (const { team, goal, state, members } of teams)
      write(
        plainText(
          `${team}  ${state}  ${members.length} ${members.length === 1 ? "teammate" : "teammates"}  ${goal.split("\n")[0]?.slice(0, 80)}\n`,
        ),
      );
  return 0;
}

export async function showStatus(data: DataPaths, name: string, json: boolean, write: Output): Promise<number> {
  const status = await teamStatusWithFiles(await teamRecord(data, name));
  write(json ? `${JSON.stringify(status)}\n` : plainText(`${statusText(status)}\n`));
  return 0;
}

export async function showReport(
  data: DataPaths,
  name: string,
  { json, html }: { json: boolean; html?: string | undefined },
  write: Output,
): Promise<number> {
  const folder = await teamRecord(data, name);
  if (html !== undefined) return writeReport(folder, html, json, write);
  const { reportText, teamReport } = await import("../../runtime/team-report.ts");
  const report = await teamReport(folder);
  write(json ? `${JSON.stringify(report)}\n` : plainText(`${reportText(report)}\n`));
  return 0;
}

async function writeReport(folder: string, file: string, json: boolean, write: Output): Promise<number> {
  const [{ TeamPageReader }, { teamPageHtml }, { pageTarget, writePage }] = await Promise.all([
    import("../../runtime/team-page/read-page.ts"),
    import("../team-page/page.ts"),
    import("../team-page/write-page.ts"),
  ]);
  const target = await pageTarget(file);
  const page = await new TeamPageReader(folder).read();
  await writePage(target, teamPageHtml(page));
  write(json ? `${JSON.stringify({ team: page.report.status.team, path: target })}\n` : plainText(`Written to ${target}.\n`));
  return 0;
}

/** The team's events, oldest first; with `follow` until the team ends. */
export async function showLog(data: DataPaths, name: string, options: { json: boolean; follow: boolean }, write: Output): Promise<number> {
  const folder = await teamRecord(data, name);
  const show = (line: string) => write(options.json ? `${line}\n` : plainText(logLine(line)));
  if (options.follow) {
    const stop = new AbortController();
    process.once("SIGINT", () => stop.abort());
    onLostReader(() => stop.abort());
    const { followTeam } = await import("../../runtime/team-page/follow-team.ts");
    const reader = new LogReader(logPath(folder));
    let shown = 0;
    const showMore = (lines: readonly string[]) => {
      shown += lines.length;
      for (const line of lines) show(line);
    };
    await followTeam({ folder, signal: stop.signal, onChange: async () => showMore(await reader.read()) });
    // Its record may lie elsewhere by now, with a last line.
    if (!stop.signal.aborted) showMore((await new LogReader(logPath(await teamRecord(data, name))).read()).slice(shown));
  } else for (const line of await new LogReader(logPath(folder)).read()) show(line);
  return 0;
}

function logLine(line: string): string {
  const entry = parseLogLine(line);
  if (!entry) return `${line}\n`;
  const text = eventText(entry.event);
  return text === undefined ? "" : `${entry.at.slice(11, 19)} ${entry.agent}  ${text}\n`;
}

function eventText(event: TeamEvent["event"]): string | undefined {
  switch (event.type) {
    case "tool_use": {
      const first = Object.values(event.call.input).find((value) => typeof value === "string");
      return `${event.call.name}(${typeof first === "string" ? (first.split("\n")[0]?.slice(0, 100) ?? "") : ""})`;
    }
    case "tool_result":
      return event.result.isError ? `  failed: ${resultText(event.result).split("\n")[0]?.slice(0, 160)}` : undefined;
    case "message": {
      if ("from" in event) return stepText(event);
      const { message } = event;
      if (message.role !== "assistant") return undefined;
      const text = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
      return text === "" ? undefined : text.split("\n")[0]?.slice(0, 200);
    }
    case "permission":
      return event.decision.decision === "allow"
        ? undefined
        : `denied ${event.request.tool}(${event.request.access.subject.slice(0, 100)}): ${event.decision.reason}`;
    case "retry":
      return retryText(event);
    case "notice":
      return event.text;
    case "loop_complete":
      return event.reason === "end_turn" ? undefined : `${event.reason}: ${event.error?.message ?? event.text}`;
    case "turn_start":
    case "stream_text":
    case "stream_thinking":
    case "tool_progress":
    case "state":
    case "attempt_reset":
    case "round_end":
    case "compacted":
    case "spent":
      return undefined;
    default:
      return stepText(event);
  }
}
