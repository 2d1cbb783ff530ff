import { plainHost, readWebAddress, type WebAddress } from "../platform/web-address.ts";
import { matchesStar } from "./patterns.ts";
import type { Rule } from "./rules.ts";

/** `domain:example.com`, `domain:*.example.com` (below it only), each with a port or for any; any other pattern is one for the address. */
export function matchesWeb(rule: Rule, address: WebAddress, given: string): boolean {
  const { spec } = rule;
  if (spec === undefined) return true;
  const domain = /^domain:\s*(.*)$/s.exec(spec)?.[1];
  if (domain !== undefined) return matchesDomain(domain, address);
  if (matchesStar(spec, address.url.href)) return true;
  // A deny or an ask also sees the address as it was written.
  return rule.effect !== "allow" && matchesStar(spec, given);
}

/** Whether an allow without a wildcard names the host: only such a rule opens this machine and private networks. */
export function ruleNamesHost(rules: readonly Rule[], url: string, isTrusted: boolean): boolean {
  const address = readWebAddress(url);
  if (typeof address === "string") return false;
  return rules.some((rule) => namesHost(rule, address) && (rule.level !== "project" || isTrusted));
}

function namesHost(rule: Rule, address: WebAddress): boolean {
  const domain = /^domain:\s*(.*)$/s.exec(rule.spec ?? "")?.[1];
  return rule.tool === "WebFetch" && rule.effect === "allow" && domain?.includes("*") === false && matchesDomain(domain, address);
}

/** The narrowest rule for an address: its host, with the port where it is an unusual one. */
export function webRule(given: string): string | undefined {
  const address = readWebAddress(given);
  if (typeof address === "string") return undefined;
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  return `WebFetch(domain:${host}${address.url.port === "" ? "" : `:${address.port}`})`;
}

function matchesDomain(domain: string, { host, port }: WebAddress): boolean {
  if (domain === "*") return true;
  const isBelow = domain.startsWith("*.");
  const wanted = hostOf(isBelow ? domain.slice(2) : domain);
  if (!wanted || (wanted.port !== undefined && wanted.port !== port)) return false;
  return isBelow ? host.endsWith(`.${wanted.host}`) : host === wanted.host;
}

/** Spelled as an address spells it: case, punycode, dots at the end. */
function hostOf(domain: string): { host: string; port: string | undefined } | undefined {
  const text = `http://${domain.trim()}/`;
  if (/[*/@?#\\\s]/.test(domain.trim()) || !URL.canParse(text)) return undefined;
  const { hostname } = new URL(text);
  return { host: plainHost(hostname), port: /:(\d+)$/.exec(domain.trim())?.[1] };
}
