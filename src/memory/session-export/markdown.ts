import { escapeHtml } from "../../platform/html.ts";
import type { SessionHeader } from "../../protocol/session.ts";
import { callTitle, type Part, resultText } from "./parts.ts";

/** The conversation as Markdown, piece by piece. */
export function* toMarkdown(title: string, header: SessionHeader, parts: Iterable<Part>): Generator<string> {
  yield `# ${title.replace(/\s+/g, " ")}\n\n`;
  yield `- Session: ${header.id}\n- Model: ${header.model}\n- Folder: ${header.cwd}\n- Begun: ${header.at}\n${header.parent ? `- Fork of: ${header.parent}\n` : ""}\n`;
  let speaker = "";
  for (const part of parts) {
    const now = part.type === "user" || part.type === "image" || part.type === "reminder" ? "You" : part.type === "note" ? "" : "RooCode";
    if (now !== speaker && now !== "") yield `## ${now}\n\n`;
    speaker = now;
    yield `${partText(part)}\n\n`;
  }
}

function partText(part: Part): string {
  switch (part.type) {
    case "user":
    case "assistant":
      return part.text;
    case "note":
      return `---\n\n*${part.text}*`;
    case "thinking":
      return folded("Thinking", part.text);
    case "reminder":
      return folded("Reminder of the system", fenced(part.text));
    case "image":
      return "*[image]*";
    case "call": {
      const { call, result } = part;
      const answer = result ? fenced(resultText(result)) : "*No result.*";
      return folded(
        `${callTitle(call)}${result?.isError ? " (failed)" : ""}`,
        `${fenced(JSON.stringify(call.input, null, 2), "json")}\n\n${answer}`,
      );
    }
  }
}

function folded(summary: string, body: string): string {
  return `<details><summary>${escapeHtml(summary)}</summary>\n\n${body}\n\n</details>`;
}

/** The fence is longer than any in the text. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
