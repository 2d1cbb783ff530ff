import { pageEnd, pageStart } from "../../platform/html-page.ts";
import type { TeamPage } from "../../runtime/team-page/read-page.ts";
import { convergenceSection } from "./convergence.ts";
import { LIVE_SCRIPT } from "./live-script.ts";
import { filesSection, membersSection } from "./members.ts";
import { messagesSection } from "./messages.ts";
import { permissionsSection } from "./permissions.ts";
import { spendingSection } from "./spending.ts";
import { STYLE } from "./style.ts";
import { summarySection } from "./summary.ts";
import { tasksSection } from "./tasks.ts";
import { timelineSection } from "./timeline.ts";

/** By this the page is known again, and may be written anew. */
export const GENERATOR = "roocode team report";

const SECTIONS: readonly { id: string; title: string; body: (page: TeamPage) => string }[] = [
  { id: "members", title: "Members", body: membersSection },
  { id: "timeline", title: "Timeline", body: timelineSection },
  { id: "tasks", title: "Tasks", body: tasksSection },
  { id: "messages", title: "Messages", body: messagesSection },
  { id: "merges", title: "Merges and conflicts", body: convergenceSection },
  { id: "files", title: "Files", body: filesSection },
  { id: "cost", title: "Tokens and cost", body: spendingSection },
  { id: "permissions", title: "Permission decisions", body: permissionsSection },
];

/** One page about a team. `live`: it is served, and keeps itself up to date from this version on. */
export function teamPageHtml(page: TeamPage, live?: { version: number }): string {
  const script = live ? LIVE_SCRIPT : undefined;
  const title = `Team ${page.report.status.team}`;
  return `${pageStart({ title, generator: GENERATOR, style: STYLE, isLive: live !== undefined, ...(script === undefined ? {} : { script }) })}<a class="skip" href="#main">To the report</a>
<header id="head" data-part>${summarySection(page)}</header>
${live ? `<p id="live" role="status">This page shows the team as it was at ${page.at.toISOString().slice(11, 19)} UTC. Load it again to see more.</p>\n` : ""}<nav aria-label="Sections"><ul>${SECTIONS.map(({ id, title: name }) => `<li><a href="#${id}">${name}</a></li>`).join("")}</ul></nav>
<main id="main"${live ? ` data-version="${live.version}"` : ""}>
${SECTIONS.map(({ id, title: name, body }) => `<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${name}</h2>\n<div id="${id}-body" data-part>${body(page)}</div></section>`).join("\n")}
</main>
<footer id="foot" data-part><p class="note">Written ${page.at.toISOString().slice(0, 19).replace("T", " ")} UTC by RooCode. All times are UTC. Secrets that were recognised are hidden.</p></footer>
${pageEnd(script)}`;
}
