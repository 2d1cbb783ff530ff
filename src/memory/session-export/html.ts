import { Marked } from "marked";
import type { ImageBlock } from "../../protocol/message.ts";
import type { SessionHeader } from "../../protocol/session.ts";
import { escapeHtml } from "./escape.ts";
import { callTitle, type Part, resultText } from "./parts.ts";

/** The conversation as one page that needs nothing else: no script, no file, no network. Yields it piece by piece. */
export function* toHtml(title: string, header: SessionHeader, parts: Iterable<Part>): Generator<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>${escapeHtml(title)}</h1>
<p>${[header.model, header.cwd, header.at, header.id, ...(header.parent ? [`fork of ${header.parent}`] : [])].map(escapeHtml).join(" · ")}</p></header>
<main>
`;
  const marked = renderer();
  const markdown = (text: string) => marked.parse(text, { async: false });
  for (const part of parts) yield `${partHtml(part, markdown)}\n`;
  yield "</main>\n</body>\n</html>\n";
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
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
header p, .note { color: GrayText; font-size: .85rem; }
section.user { border-left: 4px solid #4a90d9; padding: .1rem 1rem; background: var(--soft); margin: 1.5rem 0 1rem; }
details { border: 1px solid var(--line); border-radius: 6px; padding: .3rem .8rem; margin: .5rem 0; font-size: .9rem; }
details.failed { border-color: #c0392b; }
summary { cursor: pointer; font-family: ui-monospace, monospace; }
pre { background: var(--soft); padding: .6rem; overflow-x: auto; white-space: pre-wrap; font: .85rem/1.4 ui-monospace, monospace; }
img { max-width: 100%; }
table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .2rem .5rem; }
.note { text-align: center; border-top: 1px solid var(--line); padding-top: .5rem; }
`;
