import { escapeHtml } from "../../platform/html.ts";
import type { Spent } from "../../protocol/model.ts";
import { dollars } from "../../runtime/cost-text.ts";
import { maskSecrets } from "../../safety/secrets.ts";
import { pathText } from "../../team/converge/path-text.ts";
import { plainText } from "../../tools/bash/plain-text.ts";

/** Masked before it is cut: half a secret is not recognised any more. */
const MASKED = 20_000;

/** Words of others, for HTML: without secrets, without what plays tricks on the reader, cut with a mark. */
export function shown(text: string, most = 1000): string {
  const whole = maskSecrets(plainText(text.slice(0, MASKED)));
  if (text.length <= MASKED && whole.length <= most) return escaped(whole);
  return `${escaped(whole.slice(0, most))}… <span class="note">[${number(text.length)} characters]</span>`;
}

/** Likewise where no markup may stand: in attributes, titles and pictures. */
export function bare(text: string, most = 120): string {
  const whole = maskSecrets(plainText(text.slice(0, MASKED).split("\n", 1)[0] ?? ""));
  return escaped(whole.length > most ? `${whole.slice(0, most - 1)}…` : whole);
}

/** Half of a surrogate pair is no character; a cut leaves some. */
function escaped(text: string): string {
  return escapeHtml(text.replaceAll(/\p{Surrogate}/gu, "\ufffd"));
}

export function shownLine(text: string, most = 200): string {
  return shown(text.split("\n", 1)[0] ?? "", most);
}

export function shownPath(path: string): string {
  return `<code>${shown(pathText(path), 300)}</code>`;
}

export function clock(time: string | number): string {
  return new Date(time).toISOString().slice(11, 19);
}

export function timeTag(iso: string): string {
  if (Number.isNaN(Date.parse(iso))) return shown(iso, 40);
  const time = new Date(iso).toISOString();
  return `<time datetime="${time}">${clock(time)}</time>`;
}

export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function number(count: number): string {
  return count.toLocaleString("en-US");
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

export function tokensIn({ usage }: Spent): number {
  return usage.input + usage.cacheRead + usage.cacheWrite;
}

export function costOrUnknown({ cost }: Spent): string {
  return cost === undefined ? "price unknown" : dollars(cost);
}

/** Says how many are not there; nothing where all are. */
export function leftOut(count: number, what: string): string {
  return count > 0 ? `<p class="note">${number(count)} ${what}</p>` : "";
}
