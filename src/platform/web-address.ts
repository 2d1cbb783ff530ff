/** `host` is as the network means it: lower case, punycode, without a dot at its end or brackets. `port` is always there. */
export type WebAddress = { url: URL; host: string; port: string };

/** An address that may be fetched; a string says why one may not. */
export function readWebAddress(text: string): WebAddress | string {
  const given = text.trim();
  if (!URL.canParse(given)) return `"${given}" is not a web address; it begins with https:// or http://`;
  const url = new URL(given);
  if (url.protocol !== "https:" && url.protocol !== "http:") return `"${url.protocol}" addresses are not fetched, only https and http`;
  if (url.username !== "" || url.password !== "") return "an address with a user name or a password in it is not fetched";
  const host = plainHost(url.hostname);
  if (host === "") return `"${given}" names no host`;
  return { url, host, port: url.port === "" ? defaultPort(url) : url.port };
}

export function plainHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
}

function defaultPort({ protocol }: URL): string {
  return protocol === "https:" ? "443" : "80";
}
