import { hostOf } from "../web-domain.ts";

/** `isExact`: the person named this very host, so it may lie in a private network. */
export type HostRule = { host: string; port: string | undefined; isExact: boolean };

export const USUAL_PORTS = ["443", "80"];

/** `example.org`, `*.example.org` for what lies below it, `localhost:5432` for another port than the usual two. Undefined for what is none. */
export function readHostRule(text: string): HostRule | undefined {
  const isExact = !text.startsWith("*.");
  const found = hostOf(isExact ? text : text.slice(2));
  return found && { ...found, isExact };
}

/** Which rule lets a connection to this host and port out. An exact one is found before one with a star. */
export function ruleFor(host: string, port: string, rules: readonly HostRule[]): HostRule | undefined {
  const isPort = (rule: HostRule) => (rule.port === undefined ? USUAL_PORTS.includes(port) : rule.port === port);
  const fitting = rules.filter((rule) => isPort(rule) && (rule.isExact ? host === rule.host : host.endsWith(`.${rule.host}`)));
  return fitting.find((rule) => rule.isExact) ?? fitting[0];
}
