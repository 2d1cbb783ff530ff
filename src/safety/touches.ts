import { argsOf, hasLong, type Options, type Part, parseOptions, programOf, type Word } from "./command-line.ts";
import { EDITORS, INTERPRETERS, READERS, SAME_AS, WRITERS } from "./program-operands.ts";
import { isShellName } from "./rules.ts";
import { startFolders } from "./wrappers.ts";

/** The files that a command is known to read, write or take away. `isRecursive`: with everything below. */
export type Touches = { reads: readonly Word[]; writes: readonly Word[]; removes: readonly Word[]; isRecursive: boolean };

const NONE: Touches = { reads: [], writes: [], removes: [], isRecursive: false };

/** Several detectors ask for the same part; what it touches never changes. */
const KNOWN = new WeakMap<Part, Touches>();

export function touchesOf(part: Part): Touches {
  const known = KNOWN.get(part) ?? findTouches(part);
  KNOWN.set(part, known);
  return known;
}

function findTouches(part: Part): Touches {
  const name = SAME_AS[programOf(part)] ?? programOf(part);
  const base = ofProgram(name, argsOf(part));
  const redirected = part.redirects.filter((redirect) => !redirect.isCopy && !isStream(redirect.target));
  return {
    ...base,
    reads: [...base.reads, ...redirected.filter((each) => each.use === "read").map((each) => each.target)].filter(
      (word) => !isStream(word),
    ),
    writes: [...base.writes, ...redirected.filter((each) => each.use === "write").map((each) => each.target)].filter(
      (word) => !isStream(word),
    ),
  };
}

/** Devices that are no files: what is written there is gone, what is read there is nobody's. */
export function isStream(word: Word): boolean {
  return word.isKnown && /^(-|\/dev\/(null|stdin|stdout|stderr|tty|zero|u?random|full|fd\/\d+))$/.test(word.text);
}

function ofProgram(name: string, args: readonly Word[]): Touches {
  switch (name) {
    case "rm":
    case "unlink":
    case "rmdir":
    case "shred":
    case "trash": {
      const options = parseOptions(args, name === "shred" ? ["n", "s", "iterations", "size", "random-source"] : []);
      return {
        ...NONE,
        removes: options.operands,
        isRecursive: ["r", "R"].some((flag) => options.flags.has(flag)) || hasLong(options, "recursive", 1),
      };
    }
    case "cp":
    case "mv":
    case "ln":
    case "install":
      return copies(name, args);
    case "rsync":
    case "scp":
    case "sftp":
      return remoteCopies(name, args);
    case "dd":
      return { ...NONE, reads: afterEquals(args, "if"), writes: afterEquals(args, "of") };
    case "sed":
      return sedTouches(args);
    case "curl":
    case "wget":
      return downloads(name, args);
    case "tar":
    case "bsdtar":
      return tarTouches(args);
    case "zip": {
      const { operands } = parseOptions(args, ["x", "i", "P", "b", "t"]);
      return { ...NONE, writes: operands.slice(0, 1), reads: operands.slice(1), isRecursive: true };
    }
    case "unzip": {
      const options = parseOptions(args, ["d", "x", "P"]);
      return { ...NONE, reads: options.operands.slice(0, 1), writes: options.values.get("d") ?? [] };
    }
    case "find":
    case "fd":
    case "fdfind": {
      const folders = name === "find" ? startFolders(args) : parseOptions(args, [..."etEdxXcj"]).operands.slice(1);
      const outputs = args.flatMap((word, index) => (/^-f(print0?|printf|ls)$/.test(word.text) ? args.slice(index + 1, index + 2) : []));
      return {
        ...NONE,
        reads: folders,
        writes: outputs,
        removes: args.some((word) => word.text === "-delete") ? folders : [],
        isRecursive: true,
      };
    }
    case "git":
      return gitTouches(args);
    case "crontab":
    case "test":
    case "[":
    case "[[":
      return { ...NONE, reads: args.filter((word) => /^[~/.]/.test(word.text)) };
    default:
      return byTable(name, args);
  }
}

function byTable(name: string, args: readonly Word[]): Touches {
  if (isShellName(name) || INTERPRETERS.test(name)) {
    const options = parseOptions(args, ["c", "e", "E", "r", "m", "p", "o", "O", "W", "X", "eval", "print", "require"], true);
    const runsText = ["c", "e", "E", "p", "eval", "print"].some((flag) => options.flags.has(flag));
    return { ...NONE, reads: runsText ? [] : options.operands.slice(0, 1) };
  }
  if (EDITORS.test(name)) {
    const { operands } = parseOptions(args, ["c", "S", "u", "U", "s", "T", "cmd"]);
    return { ...NONE, reads: operands, writes: operands };
  }
  const writer = Object.hasOwn(WRITERS, name) ? WRITERS[name] : undefined;
  if (writer) {
    const options = parseOptions(args, writer.taking);
    // `chmod -x file`: the mode looks like an option.
    const skip = name === "chmod" && args.some((word) => /^-[rwxXst]+$/.test(word.text)) ? 0 : (writer.skip ?? 0);
    return {
      ...NONE,
      writes: options.operands.slice(skip),
      isRecursive: options.flags.has("R") || hasLong(options, "recursive", 1),
    };
  }
  const reader = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
  if (reader) return readerTouches(name, args, reader);
  return NONE;
}

function readerTouches(name: string, args: readonly Word[], reader: NonNullable<(typeof READERS)[string]>): Touches {
  const options = parseOptions(args, reader.taking);
  const skip = reader.skipUnless?.some((flag) => options.flags.has(flag)) ? 0 : (reader.skip ?? 0);
  const extra = (reader.files ?? []).flatMap((flag) => options.values.get(flag) ?? []);
  const outputs = ["o", "output"].flatMap((flag) =>
    ["sort", "tree", "pandoc", "gpg"].includes(name) ? (options.values.get(flag) ?? []) : [],
  );
  if (name === "openssl") outputs.push(...(options.values.get("out") ?? []));
  const isRecursive =
    ["r", "R", "recursive", "dereference-recursive"].some((flag) => options.flags.has(flag)) || ["rg", "du", "tree"].includes(name);
  return { ...NONE, reads: [...options.operands.slice(skip), ...extra], writes: outputs, isRecursive };
}

function copies(name: string, args: readonly Word[]): Touches {
  const options = parseOptions(args, ["t", "target-directory", "S", "suffix", "m", "o", "g", "mode", "owner", "group"]);
  const folder = options.values.get("t")?.[0] ?? options.values.get("target-directory")?.[0];
  const sources = folder || options.operands.length < 2 ? options.operands : options.operands.slice(0, -1);
  const target = folder ?? (options.operands.length >= 2 ? options.operands.at(-1) : undefined);
  const isRecursive =
    ["r", "R", "a"].some((flag) => options.flags.has(flag)) || hasLong(options, "recursive") || hasLong(options, "archive");
  const writes = target ? [target, ...sources.map((source) => intoFolder(target, source))] : [];
  if (name === "mv") return { ...NONE, reads: sources, writes, removes: sources, isRecursive: true };
  // The file behind a hard link or a symbolic one is opened by what is written through it later.
  return { ...NONE, reads: sources, writes, isRecursive };
}

/** A copy into a folder has the name of its source. */
function intoFolder(folder: Word, source: Word): Word {
  const name = source.text.replace(/\/+$/, "").split("/").at(-1) ?? "";
  return {
    ...folder,
    text: `${folder.text.replace(/\/+$/, "")}/${name}`,
    isKnown: folder.isKnown && source.isKnown,
    hasGlob: folder.hasGlob || source.hasGlob,
  };
}

function remoteCopies(name: string, args: readonly Word[]): Touches {
  const taking = name === "rsync" ? ["e", "rsh", "f", "filter", "exclude", "include", "T", "B", "rsync-path", "port"] : [..."cDFiJloPSX"];
  const options: Options = parseOptions(args, taking);
  const local = (word: Word) => !/^([\w.-]+@)?[\w.-]+:/.test(word.text) && !word.text.includes("://");
  const sources = options.operands.slice(0, -1).filter(local);
  const target = options.operands.slice(-1).filter(local);
  const deletes = [...options.flags].some((flag) => flag.startsWith("del") || flag === "remove-source-files");
  return {
    reads: sources,
    writes: target,
    removes: deletes && name === "rsync" ? target : [],
    isRecursive: true,
  };
}

function sedTouches(args: readonly Word[]): Touches {
  const options = parseOptions(args, ["e", "f", "l", "expression", "file", "line-length"]);
  const hasScript = ["e", "f", "expression", "file"].some((flag) => options.flags.has(flag));
  const files = options.operands.slice(hasScript ? 0 : 1);
  const inPlace = options.flags.has("i") || hasLong(options, "in-place", 2);
  return { ...NONE, reads: files, writes: inPlace ? files : [] };
}

function downloads(name: string, args: readonly Word[]): Touches {
  const taking =
    name === "curl"
      ? [
          ..."oTdFKHXAuebcxmrCDwEyYz",
          ..."output upload-file data data-binary data-raw data-urlencode form config header request user cookie cookie-jar proxy max-time cert key cacert output-dir json url-query".split(
            " ",
          ),
        ]
      : [
          ..."OPoaiUtTQ",
          ..."output-document directory-prefix output-file append-output input-file post-file body-file header user-agent".split(" "),
        ];
  const { values } = parseOptions(args, taking);
  const get = (...names: string[]) => names.flatMap((each) => values.get(each) ?? []);
  if (name === "wget")
    return {
      ...NONE,
      writes: get("O", "output-document", "P", "directory-prefix", "o", "output-file", "a"),
      reads: get("i", "input-file", "post-file", "body-file"),
    };
  const sent = get("d", "data", "data-binary", "data-urlencode", "F", "form", "json", "url-query", "H", "header", "b", "cookie").flatMap(
    (word) => {
      const match = /(?:^|=)[@<]([^;]*)/.exec(word.text) ?? /^[^=]*@(.*)$/.exec(word.text);
      return match && match[1] !== "-" ? [{ ...word, text: match[1] ?? "" }] : [];
    },
  );
  return {
    ...NONE,
    writes: get("o", "output", "c", "cookie-jar", "output-dir", "D"),
    reads: [...sent, ...get("T", "upload-file", "K", "config", "E", "cert", "key")],
  };
}

function tarTouches(args: readonly Word[]): Touches {
  const [first, ...rest] = args;
  const dashed = first && !first.text.startsWith("-") ? [{ ...first, text: `-${first.text}` }, ...rest] : args;
  const options = parseOptions(dashed, [
    "f",
    "C",
    "T",
    "X",
    "I",
    "F",
    "file",
    "directory",
    "files-from",
    "exclude",
    "to-command",
    "checkpoint-action",
  ]);
  const archive = [...(options.values.get("f") ?? []), ...(options.values.get("file") ?? [])];
  const folder = [...(options.values.get("C") ?? []), ...(options.values.get("directory") ?? [])];
  const creates = ["c", "r", "u", "create"].some((flag) => options.flags.has(flag));
  if (creates) return { ...NONE, reads: [...options.operands, ...folder], writes: archive, isRecursive: true };
  return { ...NONE, reads: archive, writes: options.flags.has("t") ? [] : folder };
}

function gitTouches(args: readonly Word[]): Touches {
  const writes = args.flatMap((word) => {
    const match = /^--output(?:-directory)?=(.*)$/.exec(word.text);
    return match ? [{ ...word, text: match[1] ?? "" }] : [];
  });
  const subcommand = args.find((word) => !word.text.startsWith("-"))?.text;
  if (subcommand === "rm" || subcommand === "mv") {
    const { operands } = parseOptions(args.slice(args.findIndex((word) => word.text === subcommand) + 1));
    return { ...NONE, writes: [...writes, ...operands] };
  }
  return { ...NONE, writes };
}

function afterEquals(args: readonly Word[], name: string): Word[] {
  return args.flatMap((word) => (word.text.startsWith(`${name}=`) ? [{ ...word, text: word.text.slice(name.length + 1) }] : []));
}
