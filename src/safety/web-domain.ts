import { plainHost } from "../platform/web-address.ts";

/** Whether a rule of WebFetch with this pattern can cover anything. */
export function isWebSpec(spec: string): boolean {
  const domain = /^domain:\s*(.*)$/s.exec(spec)?.[1];
  if (domain === undefined) return /^(https?:|\*|h\S*\*)/i.test(spec);
  return domain === "*" || hostOf(domain.replace(/^\*\./, "")) !== undefined;
}

/** Spelled as an address spells it: case, punycode, dots at the end. */
export function hostOf(domain: string): { host: string; port: string | undefined } | undefined {
  const text = `http://${domain.trim()}/`;
  if (/[*/@?#\\\s]/.test(domain.trim()) || !URL.canParse(text)) return undefined;
  const { hostname } = new URL(text);
  return { host: plainHost(hostname), port: /:(\d+)$/.exec(domain.trim())?.[1] };
}
