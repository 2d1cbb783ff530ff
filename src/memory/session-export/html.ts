import { Marked } from "marked";
import { escapeHtml } from "../../platform/html.ts";
import { pageEnd, pageStart } from "../../platform/html-page.ts";
import type { ImageBlock } from "../../protocol/message.ts";
import type { SessionHeader } from "../../protocol/session.ts";
import { callTitle, type Part, resultText } from "./parts.ts";

/** The conversation as one page that needs nothing else: no script, no file, no network. Yields it piece by piece. */
export function* toHtml(title: string, header: SessionHeader, parts: Iterable<Part>): Generator<string> {
  yield pageStart({ title, style: STYLE, hasImages: true });
  yield `<header><h1>${escapeHtml(title)}</h1>
<p>${[header.model, header.cwd, header.at, header.id, ...(header.parent ? [`fork of ${header.parent}`] : [])].map(escapeHtml).join(" · ")}</p></header>
<main>
`;
  const marked = renderer();
  const markdown = (text: string) => marked.parse(text, { async: false });
  for (const part of parts) yield `${partHtml(part, markdown)}\n`;
  yield `</main>\n${pageEnd()}`;
}

function partHtml(part: Part, markdown: (text: string) => string): string {
  switch (part.type) {
    case "user":
    case "assistant":
      return `<section class="${part.type}">${markdown(part.text)}</section>`;
    case "note":
      return `<p class="note">${escapeHtml(part.text)}</p>`;
    case "thinking":
      return `<details class="thinking"><summary>Thinking</summary>${markdown(part.text)}</details>`;
    case "reminder":
      return `<details class="reminder"><summary>Reminder of the system</summary>${pre(part.text)}</details>`;
    case "image":
      return `<section class="user">${image(part.image)}</section>`;
    case "call": {
      const { call, result } = part;
      const answer = result
        ? pre(resultText(result)) + result.content.map((block) => (block.type === "image" ? image(block) : "")).join("")
        : "<p>No result.</p>";
      return `<details class="call${result?.isError ? " failed" : ""}"><summary>${escapeHtml(callTitle(call))}</summary>${pre(JSON.stringify(call.input, null, 2))}${answer}</details>`;
    }
  }
}

function pre(text: string): string {
  return `<pre>${escapeHtml(text)}</pre>`;
}

function image({ mediaType, data }: ImageBlock): string {
  if (!/^image\/(png|jpeg|gif|webp)$/.test(mediaType) || !/^[A-Za-z0-9+/=\s]+$/.test(data)) return "<p>[image]</p>";
  return `<img alt="image" src="data:${mediaType};base64,${data}">`;
}

/** HTML in the text is shown, not obeyed; a link leads to the web or to mail, nowhere else; an image of the web is only named. */
function renderer(): Marked {
  return new Marked({
    gfm: true,
    renderer: {
      html: ({ text }) => escapeHtml(text),
      link({ href, tokens }) {
        const label = this.parser.parseInline(tokens);
        return /^(https?:\/\/|mailto:)/i.test(href) ? `<a href="${escapeHtml(href)}" rel="noopener noreferrer">${label}</a>` : label;
      },
      image: ({ href, text }) => `[image: ${escapeHtml(text === "" ? href : text)}]`,
    },
  });
}

const STYLE = `
section.user { border-left: 4px solid var(--accent); padding: .1rem 1rem; background: var(--soft); margin: 1.5rem 0 1rem; }
img { max-width: 100%; }
.note { text-align: center; border-top: 1px solid var(--line); padding-top: .5rem; }
`;
