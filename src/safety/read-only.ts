import { argsOf, type Part, programOf, type Word } from "./command-line.ts";
import { pathsOf } from "./danger/finding.ts";
import { execFlag } from "./exec-flags.ts";
import { onlyReads, readGit } from "./git-command.ts";
import { type Ground, judgePath } from "./path-sandbox.ts";
import { touchesOf } from "./touches.ts";
import { isHarmless } from "./wrappers.ts";

const READERS = new Set(
  "cat head tail ls pwd wc sort uniq cut tr nl grep egrep fgrep rg find stat file which type echo printf test [ [[ true false : basename dirname realpath date diff cmp jq seq id whoami uname break continue return exit".split(
    " ",
  ),
);
const VERSION_ONLY = /^(node|npm|git|python3?|tsc|cargo|go|rustc|java|deno|bun|pnpm|yarn)$/;
/** In `[[` both sides of these are arithmetic, which runs the subscripts in it. */
const NUMBERS = /^-(eq|ne|lt|le|gt|ge)$/;
/** Variables of the line itself; those in capitals may reach a program's environment. */
const OWN_VARIABLE = /^[a-z_][a-z0-9_]*$/;

/** Provably looks and does nothing else; `gitIsSafe` says that the repository's configuration names no program. */
export function isReadOnly(part: Part, ground: Ground, gitIsSafe: (folder: string) => boolean): boolean {
  if (part.isCall && part.opened) return true;
  if (part.runsUnknown || part.words.some((word) => word.isUnsafe) || part.assignments.some((each) => each.value.isUnsafe)) return false;
  if (part.words.length === 0) return part.assignments.every((each) => OWN_VARIABLE.test(each.name) || isHarmless(each));
  if (!part.assignments.every(isHarmless)) return false;
  const first = part.words[0];
  if (!first?.isKnown || first.text.includes("/")) return false;
  const name = programOf(part);
  if (part.isCall) return true;
  if (name === "cd") return staysInside(argsOf(part), part, ground);
  if (VERSION_ONLY.test(name) && argsOf(part).length === 1 && argsOf(part)[0]?.text === "--version") return true;
  if (execFlag(part) !== undefined || !readsInside(part, ground)) return false;
  if (name === "git") return gitOnlyReads(part, ground, gitIsSafe);
  if (name === "sed")
    return argsOf(part).some((word) => /^(-[a-zA-Z]*n[a-zA-Z]*|--quiet|--silent)$/.test(word.text)) && printsAddresses(part);
  return READERS.has(name) && !takesTool(name, argsOf(part));
}

function printsAddresses(part: Part): boolean {
  const script = argsOf(part).find((word) => !word.text.startsWith("-"));
  return script?.isKnown === true && /^(\d+|\$|\/[^/]*\/)?(,\s*(\+?\d+|\$|\/[^/]*\/))?p$/.test(script.text.trim());
}

function gitOnlyReads(part: Part, ground: Ground, gitIsSafe: (folder: string) => boolean): boolean {
  const git = readGit(part);
  if (!onlyReads(git)) return false;
  const places = [...git.folders, git.gitDir, git.workTree].filter((word) => word !== undefined);
  if (!places.every((word) => isInside(word, part, ground))) return false;
  const folders = places.length > 0 ? places.flatMap((word) => pathsOf(word, part, ground) ?? []) : part.cwds;
  return folders.length > 0 && folders.every(gitIsSafe) && git.args.every((word) => namesNoSecret(word, part, ground));
}

/** Each operand taken for a path, and what stands behind the colon of `HEAD:path`. */
function namesNoSecret(word: Word, part: Part, ground: Ground): boolean {
  if (word.text.startsWith("-")) return true;
  const colon = word.text.indexOf(":");
  const behind = colon < 0 ? [] : [{ ...word, text: word.text.slice(colon + 1) || "." }];
  return [word, ...behind].every((each) => isInside({ ...each, isKnown: true }, part, ground));
}

function readsInside(part: Part, ground: Ground): boolean {
  if (
    touchesOf(part).isRecursive &&
    /^[ef]?grep$/.test(programOf(part)) &&
    touchesOf(part).reads.some((word) => holdsSecrets(word, part, ground))
  )
    return false;
  return touchesOf(part).reads.every((word) => isInside(word, part, ground)) && touchesOf(part).writes.length === redirectWrites(part);
}

/** A recursive grep prints what is in a folder's `.env` as well. */
function holdsSecrets(folder: Word, part: Part, ground: Ground): boolean {
  const paths = pathsOf(folder, part, ground) ?? [];
  return paths.some((path) => [".env", ".env.local", ".env.production"].some((name) => ground.files.look(`${path}/${name}`) !== undefined));
}

function redirectWrites(part: Part): number {
  const own = { ...part, words: [] };
  return touchesOf(own).writes.length;
}

function isInside(word: Word, part: Part, ground: Ground): boolean {
  const paths = pathsOf(word, part, ground);
  // What find hands on may be any file below.
  if (!paths || word.isBelow) return false;
  return paths.every((path) => {
    const verdict = judgePath(path, "read", ground, false);
    return verdict.place === "inside" && !verdict.isSticky;
  });
}

function staysInside(args: readonly Word[], part: Part, ground: Ground): boolean {
  const targets = args.filter((word) => !/^-[LPe@]+$/.test(word.text) && word.text !== "--");
  return targets.length === 1 && targets.every((word) => word.text !== "-" && isInside(word, part, ground));
}

function takesTool(name: string, args: readonly Word[]): boolean {
  if (
    name === "[[" &&
    args.some(
      (word, index) => NUMBERS.test(word.text) && ![args[index - 1], args[index + 1]].every((each) => /^-?\d+$/.test(each?.text ?? "")),
    )
  )
    return true;
  if (name === "test" || name === "[" || name === "[[") return args.some((word) => word.text === "-v" || word.text === "-R");
  return name === "date" ? args.some((word) => /^\d{8,}/.test(word.text)) : false;
}
