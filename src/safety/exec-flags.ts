import { argsOf, type Part, programOf, type Word } from "./command-line.ts";
import { execReason, readGit, rewritingPush } from "./git-command.ts";

/** Options and operands that make a program about data run another program or write a file. */
const FLAGS: Record<string, RegExp> = {
  find: /^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/,
  fd: /^(-[a-zA-Z]*[xX]|--exec|--exec-batch)/,
  rg: /^--(pre|hostname-bin)(=|$)/,
  grep: /^--devices/,
  sort: /^(-[a-zA-Z]*[oT]|--output|--compress-prog|--temporary|--files0-from)/,
  tar: /^(-[a-zA-Z]*[IF]|--checkpoint-action|--to-command|--use-compress|--info-script|--new-volume-script|--rsh-command|--rmt-command)/,
  zip: /^(-[a-zA-Z]*T[a-zA-Z]*T|-TT|--unzip-command)/,
  man: /^(-[a-zA-Z]*[PHC]|--pager|--html|--config-file)/,
  file: /^(-[a-zA-Z]*[mC]|--magic-file|--compile)/,
  tree: /^(-[a-zA-Z]*[oR]|--output)/,
  ssh: /^-[a-zA-Z]*[oFEwDLRW]/,
  scp: /^-[a-zA-Z]*[oSF]/,
  sftp: /^-[a-zA-Z]*[oSFbD]/,
  rsync: /^(-[a-zA-Z]*e|--rsh|--rsync-path|--daemon)/,
  vim: /^(-[a-zA-Z]*[cSuUsW]|--cmd|\+)/,
  less: /^(-[a-zA-Z]*[oOkT]|--log-file|--lesskey|\+.*[!|])/,
  curl: /^(-[a-zA-Z]*[oOKTJcD]|--output|--remote-name|--config|--upload-file|--cookie-jar|--dump-header|--engine|--trace|--stderr|--libcurl|--etag-save|--hsts|--alt-svc)/,
  wget: /^(-[a-zA-Z]*[OPoai]|--output|--directory-prefix|--append-output|--input-file|--post-file|--body-file|--use-askpass|--config|--execute|-e)/,
  make: /^(--eval|-E|SHELL=|MAKEFLAGS=|\.SHELLFLAGS=)/,
  docker: /^(--privileged|--pid=host|--cap-add|--device|--security-opt|--volume(=|$)|-v|--mount)/,
  split: /^--filter/,
  tcpdump: /^-[a-zA-Z]*[zwGW]/,
  date: /^(-[a-zA-Z]*s|--set)/,
  printf: /^-v/,
  go: /^-(exec|toolexec|vettool)/,
  npm: /^--(script-shell|node-options|shell|prefix|globalconfig|userconfig)/,
  jq: /^--(run-tests|from-file)/,
  xxd: /^-[a-zA-Z]*r/,
  base64: /^(-o|--output)/,
  diff: /^--(output|to-file)/,
  strace: /./,
  gdb: /^-(ex|x|iex|ix|-eval|-command)/,
  emacs: /^--?(eval|load|l|funcall|f|batch|script)/,
  openssl: /^-(engine|provider|out)/,
  gcc: /^-(wrapper|fplugin|B)/,
  nmap: /^--(script|interactive)|^-o/,
  column: /^$/,
};
const ALIASES: Record<string, string> = {
  fdfind: "fd",
  egrep: "grep",
  fgrep: "grep",
  bsdtar: "tar",
  gtar: "tar",
  nvim: "vim",
  vi: "vim",
  view: "vim",
  ex: "vim",
  gmake: "make",
  podman: "docker",
  nerdctl: "docker",
  pnpm: "npm",
  yarn: "npm",
  gsort: "sort",
  gfind: "find",
  cc: "gcc",
  clang: "gcc",
  more: "less",
};

/** Why a rule with a wildcard, and the list of harmless commands, must not cover this part; undefined when they may. */
export function execFlag(part: Part): string | undefined {
  const known = KNOWN.get(part) ?? { reason: findExecFlag(part) };
  KNOWN.set(part, known);
  return known.reason;
}

/** Asked for with each rule that matches; it never changes. */
const KNOWN = new WeakMap<Part, { reason: string | undefined }>();

function findExecFlag(part: Part): string | undefined {
  const program = programOf(part);
  const name = ALIASES[program] ?? program;
  const args = argsOf(part);
  if (name === "git") return gitFlag(part);
  if (name === "sed" || name === "gsed") return sedFlag(args);
  if (/^[gmn]?awk$/.test(name)) return awkFlag(args);
  if (name === "uniq")
    return args.filter((word) => !word.text.startsWith("-")).length > 1 ? "a second operand of uniq is written" : undefined;
  if (name === "tar" && args[0] && /^[a-zA-Z]*[IF][a-zA-Z]*$/.test(args[0].text))
    return `the option "${args[0].text}" of tar runs a program`;
  if (name === "docker") return dockerFlag(args);
  const pattern = Object.hasOwn(FLAGS, name) ? FLAGS[name] : undefined;
  const hit = pattern ? args.find((word) => pattern.test(word.text)) : undefined;
  if (hit) return `"${hit.text}" makes "${program}" run a program or write a file`;
  return args.some((word) => /^-o(ProxyCommand|LocalCommand)/i.test(word.text)) ? "this option runs a program" : undefined;
}

function gitFlag(part: Part): string | undefined {
  const git = readGit(part);
  const push = rewritingPush(git);
  if (push) return "this push rewrites or deletes what others have";
  return execReason(git);
}

/** Commands of sed that run or write: `e`, `w`, `W`, the flags `e` and `w` of `s`. */
function sedFlag(args: readonly Word[]): string | undefined {
  if (args.some((word) => /^(-[a-zA-Z]*i|--in-place)/.test(word.text))) return "sed changes files in place";
  if (args.some((word) => /^(-[a-zA-Z]*f|--file)/.test(word.text))) return "the script of sed is in a file";
  const scripts = sedScripts(args);
  return scripts.every((script) => script.isKnown && isPlainSed(script.text))
    ? undefined
    : "this script of sed may run a program or write a file";
}

function sedScripts(args: readonly Word[]): readonly Word[] {
  const scripts = args.flatMap((word, index) => {
    if (word.text === "-e" || word.text === "--expression" || /^-[nErsuz]+e$/.test(word.text)) return args.slice(index + 1, index + 2);
    const glued = /^--expression=([\s\S]*)$/.exec(word.text) ?? /^-e([\s\S]+)$/.exec(word.text);
    return glued ? [{ ...word, text: glued[1] ?? "" }] : [];
  });
  if (scripts.length > 0) return scripts;
  return args.filter((word) => !word.text.startsWith("-")).slice(0, 1);
}

/** Reads the script command by command; what it does not know is not plain. */
function isPlainSed(script: string): boolean {
  let rest = script;
  while (rest !== "") {
    rest = rest.replace(/^[\s;{}]+/, "");
    if (rest === "") return true;
    rest = rest.replace(/^((\d+|\$|\/(\\.|[^/\\\n])*\/I?)(~\d+)?(\s*,\s*(\+?\d+|\$|\/(\\.|[^/\\\n])*\/I?))?)?\s*!?\s*/, "");
    const next = sedCommand(rest);
    if (next === undefined) return false;
    rest = next;
  }
  return true;
}

function sedCommand(rest: string): string | undefined {
  const command = rest.charAt(0);
  if (command === "" || command === "}") return rest;
  if (/[pdDgGhHxnNlPz=qQ{]/.test(command)) return rest.slice(1).replace(/^\s*\d*/, "");
  if (command === "#") return rest.replace(/^[^\n]*/, "");
  if (/[aic]/.test(command)) return rest.replace(/^[^\n]*/, "");
  if (/[bt:T]/.test(command)) return rest.replace(/^.[^;\n}]*/, "");
  if (command !== "s" && command !== "y") return undefined;
  const separator = rest.charAt(1);
  const end = [1, 2].reduce((at) => (at < 0 ? at : nextSeparator(rest, at + 1, separator)), 1);
  if (end < 0) return undefined;
  const flags = /^[gpiImM\d]*/.exec(rest.slice(end + 1))?.[0] ?? "";
  const after = rest.slice(end + 1 + flags.length);
  return after === "" || /^[\s;}]/.test(after) ? after : undefined;
}

function nextSeparator(text: string, from: number, separator: string): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === separator) return at;
  }
  return -1;
}

function awkFlag(args: readonly Word[]): string | undefined {
  if (args.some((word) => /^(-f|--file|-i|--include|-l|--load|-E|-o|-d|-p)/.test(word.text)))
    return "awk takes its program from a file or writes one";
  const program = args.find((word, index) => !word.text.startsWith("-") && !/^-[Fv]$/.test(args[index - 1]?.text ?? ""));
  if (!program) return undefined;
  if (!program.isKnown) return "the program of awk is only known when it runs";
  const code = program.text.replace(/"(\\.|[^"\\])*"/g, '""').replace(/\/(\\.|[^/\\\n])+\//g, "//");
  if (/\bsystem\s*\(|\||\bgetline\b|@\w|\bprintf?\b[^;}\n]*>/.test(code)) return "this program of awk may run a program or write a file";
  return undefined;
}

function dockerFlag(args: readonly Word[]): string | undefined {
  return isPrivilegedContainer(args) ? "this container reaches the machine itself" : undefined;
}

/** A container that can do to the machine what root can. */
export function isPrivilegedContainer(args: readonly Word[]): boolean {
  return args.some(({ text }, index) => {
    if (/^--(privileged(=true)?|(pid|ipc|uts|userns|network|net)=host|cap-add(=.*)?|device(=.*)?|security-opt(=.*)?)$/.test(text))
      return !/^--(network|net)=/.test(text);
    const mount = /^(-v|--volume)$/.test(text) ? (args[index + 1]?.text ?? "") : (/^(?:-v|--volume=)(.+)$/.exec(text)?.[1] ?? "");
    if (/^\/(:|$)|^\/(etc|root|var\/run\/docker\.sock|run\/docker\.sock|proc|sys|dev|boot|usr|home)(:|\/?:|$)/.test(mount)) return true;
    return /(source|src)=(\/,|\/$|\/var\/run\/docker\.sock)/.test(text);
  });
}
