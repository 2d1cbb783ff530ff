import {
  type Assignment,
  argsOf,
  knownWord,
  NOTHING,
  type Options,
  type Part,
  parseOptions,
  programOf,
  type Word,
} from "./command-line.ts";
import { PLAIN_WRAPPERS } from "./plain-wrappers.ts";
import { isShellName } from "./rules.ts";

/** What a command runs in turn: words as they are, or a text for a shell. */
type Target = { cwd?: Word } & (
  | { type: "words"; words: readonly Word[]; assignments?: readonly Assignment[] }
  | { type: "script"; script: Word; positions?: readonly Word[] }
);
export type Opened = { how: "transparent" | "opaque" | "script"; targets: readonly Target[]; isSameShell?: boolean };

const HARMLESS_VARIABLES = /^(CI|NODE_ENV|DEBUG|FORCE_COLOR|NO_COLOR|LANG|LC_\w+|TZ|TERM)$/;

const SSH_TAKING = [..."BbcDEeFIiJLlmOopQRSWw"];
const XARGS_TAKING = [..."IEdnLPsa", "replace", "max-args", "max-procs", "max-lines", "max-chars", "delimiter", "arg-file", "eof"];

/** `written` knows the text that an earlier part of the line put into a file. */
export function openWrapper(part: Part, written: (path: string) => string | undefined): Opened | undefined {
  const name = programOf(part);
  const args = argsOf(part);
  if (isShellName(name)) return openShell(part, written);
  switch (name) {
    case "env":
      return openEnv(args);
    case "xargs":
      return openXargs(part);
    case "find":
    case "fd":
    case "fdfind":
      return openFind(name, args);
    case "eval":
      return { how: "script", isSameShell: true, targets: [{ type: "script", script: joined(args) }] };
    case "trap":
      return args[0] && args.length > 1 && args[0].text !== "-" && args[0].text !== "" ? script("script", args[0]) : undefined;
    case "source":
    case ".":
      return openSource(part, written);
    case "ssh":
    case "mosh":
      return openSsh(args);
    case "su":
      return openCommandOption(args, ["c", "command", "s", "shell", "g", "G", "w"], ["c", "command"]);
    case "script":
    case "nix-shell":
      return openCommandOption(args, ["c", "command", "run", "O", "I", "T", "p", "E"], ["c", "command", "run"]);
    case "alias":
      return openAlias(args);
    default:
      return Object.hasOwn(PLAIN_WRAPPERS, name) ? openPlain(name, args) : undefined;
  }
}

/** What a part prints, where that is known: echo, printf, or cat of a here-document. */
export function literalOutput(part: Part): string | undefined {
  const name = programOf(part);
  const args = argsOf(part);
  if (name === "cat" && part.stdin !== undefined && args.every((word) => word.text === "-")) return part.stdin;
  if (!part.words.every((word) => word.isKnown && !word.hasGlob)) return undefined;
  if (name === "echo") {
    const options = args.findIndex((word) => !/^-[neE]+$/.test(word.text));
    const flags = args.slice(0, options < 0 ? args.length : options);
    const text = args
      .slice(flags.length)
      .map((word) => word.text)
      .join(" ");
    return `${flags.some((word) => word.text.includes("e")) ? unescapeText(text) : text}\n`;
  }
  if (name === "printf" && args[0] && args[0].text !== "-v") {
    const rest = args.slice(1).map((word) => word.text);
    return unescapeText(args[0].text).replace(/%[-\d.]*[sb]/g, () => unescapeText(rest.shift() ?? ""));
  }
  return undefined;
}

export function isHarmless(assignment: Assignment): boolean {
  return HARMLESS_VARIABLES.test(assignment.name) && assignment.value.isKnown && assignment.value.runs.length === 0;
}

/** The text that reaches a part through its pipe, where that is known. */
function literalInput(part: Part): string | undefined {
  if (part.stdin !== undefined) return part.stdin;
  const own = part.before.filter((each) => each.outer === part.outer);
  // In a pipeline of its own, what feeds the command around it is further away.
  const [first, ...between] = own.length > 0 ? own : part.before.filter((each) => each.outer === undefined);
  if (!first || !between.every((each) => /^(cat|tee)$/.test(programOf(each)))) return undefined;
  return literalOutput(first);
}

function openShell(part: Part, written: (path: string) => string | undefined): Opened | undefined {
  const args = argsOf(part);
  let index = 0;
  let isScript = false;
  for (; index < args.length; index++) {
    const { text } = args[index] ?? NOTHING;
    if (!/^[-+]./.test(text) || text === "--") break;
    if (/^-[a-zA-Z]*c/.test(text)) isScript = true;
    if (/^[-+][a-zA-Z]*[oO]$/.test(text) || text === "--rcfile" || text === "--init-file") index++;
  }
  if (args[index]?.text === "--") index++;
  const operand = args[index];
  const substituted = operand ? substitutedText(operand) : undefined;
  if (!isScript && substituted !== undefined) return { how: "opaque", targets: [{ type: "script", script: knownWord(substituted) }] };
  if (isScript)
    return operand ? { how: "script", targets: [{ type: "script", script: operand, positions: args.slice(index + 2) }] } : undefined;
  if (!operand || operand.text === "-" || operand.text === "/dev/stdin" || args.some((word) => word.text === "-s")) {
    const text = literalInput(part);
    return text === undefined
      ? undefined
      : { how: "script", targets: [{ type: "script", script: knownWord(text), positions: args.slice(index + 1) }] };
  }
  const path = operand.isKnown
    ? absolutes(operand, part)
        .map(written)
        .find((text) => text !== undefined)
    : undefined;
  return path === undefined
    ? undefined
    : { how: "opaque", targets: [{ type: "script", script: knownWord(path), positions: args.slice(index + 1) }] };
}

function openSource(part: Part, written: (path: string) => string | undefined): Opened | undefined {
  const [file] = argsOf(part);
  if (!file) return undefined;
  const fromFile = () =>
    absolutes(file, part)
      .map(written)
      .find((each) => each !== undefined);
  const text = substitutedText(file) ?? (file.text === "/dev/stdin" ? literalInput(part) : fromFile());
  return text === undefined ? undefined : { how: "opaque", isSameShell: true, targets: [{ type: "script", script: knownWord(text) }] };
}

/** The text behind `<(echo …)`. */
function substitutedText(word: Word): string | undefined {
  const [only, ...more] = word.runs;
  return !word.isKnown && only && more.length === 0 && word.text.startsWith("<(") ? literalOutput(only) : undefined;
}

function openPlain(name: string, args: readonly Word[]): Opened | undefined {
  const wrapper = PLAIN_WRAPPERS[name];
  if (!wrapper) return undefined;
  if (name === "command" && /^-[pvV]*[vV]/.test(args[0]?.text ?? "")) return undefined;
  const words = name === "nice" && /^-\d+$/.test(args[0]?.text ?? "") ? args.slice(1) : args;
  const options = parseOptions(words, wrapper.taking, true);
  if (name === "flock" || name === "watch") {
    const command = options.values.get("c")?.[0] ?? (name === "watch" && !options.flags.has("x") ? joined(options.operands) : undefined);
    if (command) return script("opaque", command);
    const after = options.operands.slice(name === "flock" ? 1 : 0);
    if (after[0]?.text === "-c" && after[1]) return script("opaque", after[1]);
  }
  const how = wrapper.isTransparent && !(name === "time" && options.flags.has("o")) ? "transparent" : "opaque";
  const rest = options.operands.slice(wrapper.operands ?? 0);
  const assignments = name === "sudo" || name === "doas" ? leadingAssignments(rest) : [];
  const inner = rest.slice(assignments.length);
  return inner.length > 0
    ? { how, targets: [{ type: "words", words: inner, assignments, ...folder(options.values.get("D") ?? options.values.get("chdir")) }] }
    : undefined;
}

function openEnv(args: readonly Word[]): Opened | undefined {
  const options = parseOptions(args, ["u", "C", "S", "unset", "chdir", "split-string"], true);
  const where = folder(options.values.get("C") ?? options.values.get("chdir"));
  const text = options.values.get("S")?.[0] ?? options.values.get("split-string")?.[0];
  if (text) return { how: "opaque", targets: [{ type: "script", script: joined([text, ...options.operands]), ...where }] };
  const assignments = leadingAssignments(options.operands);
  const words = options.operands.slice(assignments.length);
  if (words.length === 0) return undefined;
  const isTransparent = options.flags.size === 0 && assignments.every(isHarmless);
  return { how: isTransparent ? "transparent" : "opaque", targets: [{ type: "words", words, assignments, ...where }] };
}

function openXargs(part: Part): Opened | undefined {
  const options = parseOptions(argsOf(part), XARGS_TAKING, true);
  if (options.operands.length === 0) return undefined;
  const placeholder = options.values.get("I")?.[0]?.text ?? (options.flags.has("i") || options.flags.has("replace") ? "{}" : undefined);
  const fed = fedWords(part, options.flags.has("0") || options.flags.has("null") || options.flags.has("d"));
  const words =
    placeholder === undefined ? [...options.operands, ...fed] : options.operands.flatMap((word) => replaceMark(word, placeholder, fed));
  return { how: options.flags.size === 0 ? "transparent" : "opaque", targets: [{ type: "words", words }] };
}

/** What xargs appends: literal text, something below find's folders, or what can't be known. */
function fedWords(part: Part, isWhole: boolean): Word[] {
  const text = literalInput(part);
  if (text !== undefined && isWhole)
    return text
      .split("\0")
      .filter((word) => word !== "")
      .map(knownWord);
  if (text !== undefined)
    return text
      .split(/\s+/)
      .filter((word) => word !== "")
      .map(knownWord);
  const finder = part.before.find((each) => /^(find|fd|fdfind)$/.test(programOf(each)));
  if (finder) return startFolders(argsOf(finder)).map((word) => ({ ...word, isBelow: true }));
  return [{ ...NOTHING, text: "{}", isKnown: false, isQuoted: false, runs: part.before }];
}

export function startFolders(args: readonly Word[]): Word[] {
  const rest = args.slice(args.findIndex((word) => !/^-[HLPDO]/.test(word.text)));
  const end = rest.findIndex((word) => /^[-(!]/.test(word.text));
  const folders = args.length === 0 ? [] : rest.slice(0, end < 0 ? rest.length : end);
  return folders.length > 0 ? [...folders] : [knownWord(".")];
}

function openFind(name: string, args: readonly Word[]): Opened | undefined {
  const targets: Target[] = [];
  const marks = name === "find" ? /^-(exec|execdir|ok|okdir)$/ : /^(-x|-X|--exec|--exec-batch)$/;
  const folders = name === "find" ? startFolders(args) : fdFolders(args, marks);
  const found = folders.map((word) => ({ ...word, isBelow: true }));
  for (const [index, word] of args.entries()) {
    if (!marks.test(word.text)) continue;
    const rest = args.slice(index + 1);
    const end = rest.findIndex((each, at) => each.text === ";" || (each.text === "+" && rest[at - 1]?.text === "{}"));
    const command = end < 0 ? rest : rest.slice(0, end);
    const words =
      command.some((each) => each.text.includes("{}")) || name === "find"
        ? command.flatMap((each) => replaceMark(each, "{}", found))
        : [...command, ...found];
    if (words.length > 0) targets.push({ type: "words", words });
  }
  return targets.length > 0 ? { how: "opaque", targets } : undefined;
}

/** fd takes its folders after the pattern. */
function fdFolders(args: readonly Word[], marks: RegExp): Word[] {
  const end = args.findIndex((word) => marks.test(word.text));
  const { operands } = parseOptions(end < 0 ? args : args.slice(0, end), [
    "t",
    "e",
    "E",
    "d",
    "c",
    "j",
    "type",
    "extension",
    "exclude",
    "max-depth",
  ]);
  return operands.length > 1 ? operands.slice(1) : [knownWord(".")];
}

function replaceMark(word: Word, mark: string, replacements: readonly Word[]): Word[] {
  if (!word.text.includes(mark)) return [word];
  return replacements.map((each) => ({
    ...word,
    ...each,
    text: word.text.replaceAll(mark, each.text),
    isKnown: word.isKnown && each.isKnown,
  }));
}

function openSsh(args: readonly Word[]): Opened | undefined {
  const options = parseOptions(args, SSH_TAKING, true);
  const command = options.operands.slice(1);
  return command.length > 0 ? script("opaque", joined(command)) : undefined;
}

function openCommandOption(args: readonly Word[], taking: readonly string[], names: readonly string[]): Opened | undefined {
  const options: Options = parseOptions(args, taking);
  const text = names.map((name) => options.values.get(name)?.[0]).find((word) => word !== undefined);
  return text ? script("opaque", text) : undefined;
}

function openAlias(args: readonly Word[]): Opened | undefined {
  const targets = args.flatMap((word): Target[] => {
    const equals = word.text.indexOf("=");
    return equals < 0 ? [] : [{ type: "script", script: { ...word, text: word.text.slice(equals + 1) } }];
  });
  return targets.length > 0 ? { how: "opaque", targets } : undefined;
}

function script(how: "opaque" | "script", text: Word): Opened {
  return { how, targets: [{ type: "script", script: text }] };
}

function joined(words: readonly Word[]): Word {
  return {
    text: words.map((word) => word.text).join(" "),
    isKnown: words.every((word) => word.isKnown),
    hasGlob: false,
    isUnsafe: words.some((word) => word.isUnsafe),
    isQuoted: true,
    runs: words.flatMap((word) => word.runs),
  };
}

function leadingAssignments(words: readonly Word[]): Assignment[] {
  const assignments: Assignment[] = [];
  for (const word of words) {
    const match = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word.text);
    if (!match) break;
    assignments.push({ name: match[1] ?? "", value: { ...word, text: match[2] ?? "" } });
  }
  return assignments;
}

function folder(words: readonly Word[] | undefined): { cwd?: Word } {
  const [word] = words ?? [];
  return word ? { cwd: word } : {};
}

function absolutes(word: Word, part: Part): string[] {
  const clean = (path: string) => path.replaceAll("/./", "/");
  return word.text.startsWith("/") ? [clean(word.text)] : part.cwds.map((cwd) => clean(`${cwd}/${word.text}`));
}

function unescapeText(text: string): string {
  return text.replace(/\\(x[0-9a-fA-F]{1,2}|0?[0-7]{1,3}|[abefnrtv\\])/g, (_, code: string) => {
    if (code.startsWith("x")) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (/^\d/.test(code)) return String.fromCharCode(Number.parseInt(code, 8));
    return { n: "\n", t: "\t", r: "\r", "\\": "\\" }[code] ?? "";
  });
}
