import { escapeHtml } from "../../platform/html.ts";
import type { TeamPage } from "../../runtime/team-page/read-page.ts";
import { table } from "./table.ts";
import { counted, leftOut, number, shown, shownLine, shownPath } from "./texts.ts";

const MOST_FILES = 300;
const MOST_COMMITS = 100;

export function membersSection({ report }: TeamPage): string {
  const { members, status } = report;
  if (members.length === 0) return "<p>The team has no teammates yet.</p>";
  const rows = members.map((work) => {
    const member = status.members.find(({ name }) => name === work.name);
    const state = member ? `${member.state}${member.detail ? `: ${shownLine(member.detail, 100)}` : ""}` : "no longer in the team";
    const deaths = work.deaths.map((how) => `<br><span class="is-bad">died: ${shownLine(how)}</span>`).join("");
    return [
      shown(work.name, 40),
      state + deaths,
      shown(member?.branch ?? "", 100),
      work.commits ? number(work.commits.length) : "",
      work.files ? number(work.files.length) : "",
      number(work.toolCalls),
      number(work.messagesSent),
      number(work.starts),
    ];
  });
  return table({
    caption: "Members and their work",
    id: "member-table",
    head: ["Member", "State", "Branch", "Commits", "Files", "Tool calls", "Messages", "Starts"],
    rows,
    figures: [3, 4, 5, 6, 7],
  });
}

export function filesSection({ report: { members } }: TeamPage): string {
  const withFiles = members.filter(({ files, commits }) => (files?.length ?? 0) + (commits?.length ?? 0) > 0);
  if (withFiles.length === 0) return "<p>No branch has commits, or the branches are gone.</p>";
  const changedBy = new Map<string, string[]>();
  for (const { name, files = [] } of withFiles) for (const file of files) changedBy.set(file, [...(changedBy.get(file) ?? []), name]);
  const shared = [...changedBy].filter(([, names]) => names.length > 1);
  const overlap =
    shared.length === 0
      ? "<p>No file was changed by two members.</p>"
      : `<p>Changed by more than one: ${shared
          .slice(0, MOST_FILES)
          .map(([file, names]) => `${shownPath(file)} (${names.map((name) => shown(name, 40)).join(", ")})`)
          .join("; ")}</p>`;
  return `${overlap}
${withFiles.map(({ name, files = [], commits = [] }) => filesOf(name, files, commits)).join("\n")}`;
}

function filesOf(name: string, files: readonly string[], commits: readonly string[]): string {
  const commitItems = commits.slice(0, MOST_COMMITS).map((line) => `<li>${shownLine(line, 160)}</li>`);
  const fileItems = files.slice(0, MOST_FILES).map((file) => `<li>${shownPath(file)}</li>`);
  return `<details id="member-files-${escapeHtml(name)}"><summary><b>${shown(name, 40)}</b>: ${counted(commits.length, "commit")}, ${counted(files.length, "file")}</summary>
<ul>${commitItems.join("")}</ul>${leftOut(commits.length - commitItems.length, "more commits")}
<ul>${fileItems.join("")}</ul>${leftOut(files.length - fileItems.length, "more files")}</details>`;
}
