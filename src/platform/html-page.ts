import { createHash } from "node:crypto";
import { escapeHtml } from "./html.ts";

type PageHead = {
  title: string;
  /** What wrote it: by this a page of ours is known again. */
  generator?: string;
  /** After what all pages share. */
  style: string;
  /** No data stands in it: the policy lets run what has its hash, and nothing else. */
  script?: string;
  /** Images that stand in the page itself. */
  hasImages?: boolean;
  /** Of a page that is served: its script may ask its own server. */
  isLive?: boolean;
};

/** A page up to and with `<body>` that needs nothing else: no file, no network. A policy holds it to that. */
export function pageStart({ title, generator, style, script, hasImages = false, isLive = false }: PageHead): string {
  const styles = BASE_STYLE + style;
  const policy = [
    "default-src 'none'",
    `style-src ${hashed(styles)}`,
    ...(script === undefined ? [] : [`script-src ${hashed(script)}`]),
    ...(hasImages ? ["img-src data:"] : []),
    ...(isLive ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}">
<meta name="referrer" content="no-referrer">
${generator === undefined ? "" : `<meta name="generator" content="${escapeHtml(generator)}">\n`}<title>${escapeHtml(title)}</title>
<style>${styles}</style>
</head>
<body>
`;
}

export function pageEnd(script?: string): string {
  return `${script === undefined ? "" : `<script>${script}</script>\n`}</body>\n</html>\n`;
}

function hashed(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Each colour of words has a contrast of at least 4.5 to 1 on the page and on `--soft`. */
const BASE_STYLE = `
:root { color-scheme: light dark; --page: #ffffff; --words: #1a1a1a; --quiet: #595959; --line: #c4c4c4; --soft: #f4f4f4;
  --accent: #1d5fa8; --good: #19692c; --bad: #b3261e; --warn: #805300; }
@media (prefers-color-scheme: dark) { :root { --page: #161616; --words: #e8e8e8; --quiet: #b0b0b0; --line: #4a4a4a; --soft: #232323;
  --accent: #8ab8f0; --good: #7fcf91; --bad: #ff9d94; --warn: #e5bd6a; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere;
  color: var(--words); background: var(--page); }
header p, .note { color: var(--quiet); font-size: .85rem; }
a { color: var(--accent); }
details { border: 1px solid var(--line); border-radius: 6px; padding: .3rem .8rem; margin: .5rem 0; font-size: .9rem; }
details.failed { border-color: var(--bad); }
summary { cursor: pointer; font-family: ui-monospace, monospace; }
pre { background: var(--soft); padding: .6rem; overflow-x: auto; white-space: pre-wrap; font: .85rem/1.4 ui-monospace, monospace; }
table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .2rem .5rem; }
`;
