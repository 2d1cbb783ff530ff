import { type MessageLine, MOST_MESSAGES } from "../../runtime/team-page/chronicle.ts";
import type { TeamPage } from "../../runtime/team-page/read-page.ts";
import { leftOut, number, shown, shownLine, timeTag } from "./texts.ts";

/** More would stand between the reader and what comes after. */
const OPEN = 50;
/** Characters of a text: of many, less of each. */
const TEXT = { few: 2000, many: 400, manyFrom: 300 };

export function messagesSection({ chronicle, report }: TeamPage): string {
  if (chronicle.messageCount === 0) return "<p>Nobody wrote to anybody.</p>";
  const messages = chronicle.messages.slice(-MOST_MESSAGES);
  const first = chronicle.messageCount - messages.length;
  const most = messages.length < TEXT.manyFrom ? TEXT.few : TEXT.many;
  const items = messages.map((message, index) => messageItem(message, first + index, most));
  const early = items.slice(0, -OPEN);
  const before = leftOut(first, `earlier messages are not on this page; all of them: roocode team log ${shown(report.status.team, 80)}`);
  return `${before}${early.length > 0 ? `<details id="early"><summary>${number(early.length)} messages before these</summary><ol class="messages">${early.join("\n")}</ol></details>` : ""}
<ol class="messages">
${items.slice(-OPEN).join("\n")}
</ol>`;
}

function messageItem({ at, from, to, kind, summary, text }: MessageLine, index: number, most: number): string {
  const head = `${timeTag(at)} <b>${shown(from, 40)}</b> → <b>${shown(to, 40)}</b>: ${shownLine(summary)}${kind === "message" ? "" : ` <span class="note">${shown(kind.replaceAll("_", " "), 40)}</span>`}`;
  if (text === undefined || text === "") return `<li>${head}</li>`;
  return `<li><details id="message-${index}"><summary>${head}</summary><p class="text">${shown(text, most)}</p></details></li>`;
}
