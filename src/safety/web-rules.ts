import { readWebAddress, type WebAddress } from "../platform/web-address.ts";
import { matchesStar } from "./patterns.ts";
import type { Rule } from "./rules.ts";
import { hostOf } from "./web-domain.ts";

/** `domain:example.com`, `domain:*.example.com` (below it only), each with a port or for any; any other pattern is one for the address. */
export function matchesWeb(rule: Rule, address: WebAddress, given: string): boolean {
  const { spec } = rule;
  if (spec === undefined) return true;
  const domain = /^domain:\s*(.*)$/s.exec(spec)?.[1];
  if (domain !== undefined) return matchesDomain(domain, address);
  if (matchesStar(spec, address.url.href)) return true;
  // A deny or an ask also sees the address as it was written.
  return rule.effect !== "allow" && (matchesStar(spec, given) || matchesStar(spec, plainPath(address.url.href)));
}

/** Servers read `%61` as `a`. */
function plainPath(href: string): string {
  return href.replace(/%(2d|2e|5f|7e|3[0-9]|[46][1-9a-f]|[57][0-9a])/gi, (code) => decodeURIComponent(code));
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
