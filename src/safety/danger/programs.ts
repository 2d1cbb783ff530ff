import { argsOf, type Part, parseOptions, programOf } from "../command-line.ts";
import { isShellName } from "../rules.ts";

const FETCHERS = /^(curl|wget|fetch|aria2c|lynx|links|w3m|http|https|httpie|xh|lwp-request|GET|ftp|lftp|tftp|gsutil|aws|rclone)$/;
const SENDERS =
  /^(curl|wget|http|https|httpie|xh|nc|ncat|netcat|nc\.(traditional|openbsd)|socat|telnet|ssh|scp|sftp|rsync|ftp|lftp|tftp|rclone|aws|gsutil|az|gcloud|mail|mailx|sendmail|mutt|ping|ping6|fping|nslookup|dig|host|drill|kdig|delv|resolvectl|getent|traceroute|tracepath|mtr|whois|finger|openssl|gh|glab|websocat|wscat|croc|ngrok|cloudflared|smbclient|mosquitto_pub|redis-cli|irc)$/;
const RAW_SOCKETS = /^(nc|ncat|netcat|nc\.(traditional|openbsd)|socat|telnet|websocat|openssl)$/;
const INTERPRETERS = /^(node|nodejs|deno|bun|tsx|python[\d.]*|pypy3?|ruby|perl|php|lua[\d.]*|Rscript|osascript|pwsh|powershell|tclsh)$/;

export function isFetcher(part: Part): boolean {
  const name = programOf(part);
  if (RAW_SOCKETS.test(name) || (name === "git" && part.words.some((word) => word.text === "archive")))
    return name !== "openssl" || hasWord(part, "s_client");
  return FETCHERS.test(name) || opensNetworkFile(part, "read");
}

export function isSender(part: Part): boolean {
  const name = programOf(part);
  if (name === "openssl") return hasWord(part, "s_client");
  if (name === "rsync" || name === "scp")
    return argsOf(part).some((word) => /^([\w.-]+@)?[\w.-]+:/.test(word.text) || word.text.includes("://"));
  return SENDERS.test(name) || opensNetworkFile(part, "write");
}

export function isRawSocket(part: Part): boolean {
  return RAW_SOCKETS.test(programOf(part)) && (programOf(part) !== "openssl" || hasWord(part, "s_client"));
}

export function opensNetworkFile(part: Part, use?: "read" | "write"): boolean {
  return part.redirects.some((redirect) => /^\/dev\/(tcp|udp)\//.test(redirect.target.text) && (use === undefined || redirect.use === use));
}

/** Runs what it reads: a shell or an interpreter of code, `eval` and `source`. */
export function isRunner(part: Part): boolean {
  const name = programOf(part);
  return isShellName(name) || INTERPRETERS.test(name) || /^(eval|source|\.)$/.test(name);
}

/** Takes its program from standard input, since neither a file nor a text is named. */
export function readsProgram(part: Part): boolean {
  const name = programOf(part);
  if (!isRunner(part) || name === "eval") return false;
  const options = parseOptions(argsOf(part), ["c", "e", "E", "r", "p", "m", "o", "O", "W", "X", "eval", "print"], true);
  if (
    ["c", "e", "E", "r", "m", "eval", "print"].some(
      (flag) => options.flags.has(flag) && !(flag === "e" && isShellName(name)) && !(flag === "r" && !/php/.test(name)),
    )
  )
    return false;
  const first = options.operands[0];
  return !first || /^(-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/.test(first.text) || options.flags.has("s");
}

function hasWord(part: Part, text: string): boolean {
  return part.words.some((word) => word.text === text);
}
