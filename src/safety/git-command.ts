import { argsOf, type Part, type Word } from "./command-line.ts";

/** A git command taken apart: what comes before the subcommand can move it elsewhere or make it run programs. */
export type GitCommand = {
  subcommand: string;
  args: readonly Word[];
  /** `-C` folders in order. */
  folders: readonly Word[];
  gitDir: Word | undefined;
  workTree: Word | undefined;
  /** `-c key=value`, `--config-env`, `--exec-path=…`: settings of this call alone. */
  settings: readonly Word[];
  isPaged: boolean;
};

export function readGit(part: Part): GitCommand {
  const args = argsOf(part);
  const folders: Word[] = [];
  const settings: Word[] = [];
  let gitDir = part.assignments.find((each) => each.name === "GIT_DIR")?.value;
  let workTree = part.assignments.find((each) => each.name === "GIT_WORK_TREE")?.value;
  let isPaged = false;
  let index = 0;
  for (; index < args.length; index++) {
    const word = args[index];
    if (!word?.text.startsWith("-")) break;
    const [name, value] = splitOption(word);
    const next = () => value ?? args[++index];
    if (name === "-C") folders.push(...present(args[++index]));
    else if (name.startsWith("-C") && !name.startsWith("--")) folders.push({ ...word, text: word.text.slice(2) });
    else if (name === "-c" || name === "--config-env" || name === "--exec-path")
      settings.push(...present(name === "--exec-path" ? (value ?? word) : next()));
    else if (name === "--git-dir") gitDir = next();
    else if (name === "--work-tree") workTree = next();
    else if (name === "--namespace" || name === "--super-prefix") next();
    else if (name === "-p" || name === "--paginate") isPaged = true;
  }
  return { subcommand: args[index]?.text ?? "", args: args.slice(index + 1), folders, gitDir, workTree, settings, isPaged };
}

const EXEC_KEYS =
  /^(core\.(fsmonitor|hookspath|sshcommand|pager|editor|askpass|gitproxy|attributesfile|worktree|alternaterefscommand)|alias\..*|filter\..*|diff\.external|diff\..*\.(command|textconv)|merge\..*\.driver|(merge|diff)tool\..*|include\.path|includeif\..*|credential\..*|credential|gpg\..*|gpg\.program|uploadpack\..*|receive\..*|remote\..*\.(uploadpack|receivepack|vcs|proxy)|sequence\.editor|pager\..*|browser\..*|web\.browser|man\..*|interactive\.difffilter|http\.(proxy|sslverify|.*)|init\.templatedir|instaweb\..*|difftool\..*|protocol\..*|trailer\..*|submodule\..*\.update|sendemail\..*|imap\..*|ssh\.variant|url\..*|blame\..*file|commit\.template)$/i;

/** A key whose value git runs, or that leads it to another file or server. */
export function isExecKey(key: string): boolean {
  return EXEC_KEYS.test(key.trim());
}

const CONFIG_READS = /^(--get|--get-all|--get-regexp|--get-urlmatch|--get-color|--get-colorbool|--list|-l|get|list)$/;
const CONFIG_WRITES =
  /^(--add|--unset|--unset-all|--replace-all|--rename-section|--remove-section|set|unset|rename-section|remove-section)$/;

/** The keys that a `git config` call changes; undefined when it only reads. */
export function changedKeys(git: GitCommand): { keys: readonly Word[]; isEditor: boolean; scope: "repository" | "elsewhere" } | undefined {
  if (git.subcommand !== "config") return undefined;
  const texts = git.args.map((word) => word.text);
  const scope = texts.some((text) => /^--(global|system)$/.test(text)) ? "elsewhere" : "repository";
  if (texts.some((text) => text === "-e" || text === "--edit" || text === "edit")) return { keys: [], isEditor: true, scope };
  const operands: Word[] = [];
  for (let index = 0; index < git.args.length; index++) {
    const word = git.args[index];
    if (!word) break;
    if (/^(-f|--file|--blob|--type|--default|--comment|--value|--url)$/.test(word.text)) index++;
    else if (!word.text.startsWith("-")) operands.push(word);
  }
  if (texts.some((text) => CONFIG_READS.test(text)) && !texts.some((text) => CONFIG_WRITES.test(text))) return undefined;
  const words = CONFIG_WRITES.test(operands[0]?.text ?? "") ? operands.slice(1) : operands;
  const isWrite = texts.some((text) => CONFIG_WRITES.test(text)) || words.length > 1;
  return isWrite ? { keys: words.slice(0, 1), isEditor: false, scope } : undefined;
}

/** Options and operands by which git runs a program of the caller's choice, or writes a file. */
export function execReason(git: GitCommand): string | undefined {
  if (git.settings.length > 0) return "a setting of git for this call alone can run a program";
  const texts = git.args.map((word) => word.text);
  const has = (pattern: RegExp) => texts.find((text) => pattern.test(text));
  if (has(/^(ext|fd)::/)) return "this address makes git run a program";
  const option =
    has(
      /^--(upload-pa|receive-pa|exec|ext-diff|textconv|open-files-in-pager|output|extcmd|tool|gui|interactive|edit|show-signature|template|config|upload-archive|editor|remote(=|$))/,
    ) ??
    (git.subcommand === "grep" ? has(/^-O/) : undefined) ??
    (git.subcommand === "archive" ? has(/^-o/) : undefined) ??
    (git.subcommand === "clone" ? has(/^-[cu]/) : undefined) ??
    (/^(rebase)$/.test(git.subcommand) ? has(/^-[xi]/) : undefined) ??
    (git.subcommand === "format-patch" ? has(/^-o/) : undefined);
  if (option !== undefined) return `the option "${option}" can run a program or write a file`;
  if (
    /^(filter-branch|filter-repo|difftool|mergetool|instaweb|daemon|send-email|web--browse|help|shell|upload-pack|receive-pack|http-backend|credential.*|remote-ext|hook|for-each-repo|maintenance|citool|gui|svn|p4|fast-import)$/.test(
      git.subcommand,
    ) ||
    changedKeys(git)
  )
    return `"git ${git.subcommand}" can run programs or change what git runs`;
  if (git.subcommand === "bisect" && texts[0] === "run") return `"git bisect run" runs a program`;
  if (git.subcommand === "submodule" && (texts.includes("foreach") || texts.includes("update")))
    return `"git submodule ${texts[0] ?? ""}" runs programs`;
  return undefined;
}

/** A push that overwrites or deletes what others have. `withLease` is the careful kind. */
export function rewritingPush(git: GitCommand): "force" | "lease" | undefined {
  if (git.subcommand !== "push") return undefined;
  const texts = git.args.map((word) => word.text);
  const isForce = texts.some(
    (text) =>
      /^--(force|mirror|delete|prune)$/.test(text) || /^-[a-zA-Z]*[fd][a-zA-Z]*$/.test(text) || /^\+/.test(text) || /^:./.test(text),
  );
  if (isForce) return "force";
  return texts.some((text) => /^--force-/.test(text)) ? "lease" : undefined;
}

const READING =
  /^(status|log|show|diff|blame|rev-parse|ls-files|shortlog|describe|cat-file|merge-base|rev-list|name-rev|diff-tree|ls-tree|show-ref|for-each-ref|count-objects|version|annotate|whatchanged|cherry)$/;

/** Only looks, as far as the arguments tell; the configuration of the repository is looked at elsewhere. */
export function onlyReads(git: GitCommand): boolean {
  if (execReason(git) !== undefined || git.isPaged) return false;
  const texts = git.args.map((word) => word.text);
  const operands = texts.filter((text) => !text.startsWith("-"));
  if (texts.some((text) => text === "--no-index" || text === "--help")) return false;
  if (READING.test(git.subcommand)) return true;
  if (git.subcommand === "") return git.args.length === 0;
  if (git.subcommand === "branch")
    return texts.every(
      (text) =>
        /^(--list|-l|-a|-r|-v|-vv|--all|--remotes|--verbose|--show-current|--(no-)?merged|--(no-)?contains|--sort=.*|--format=.*|--no-color|--column)$/.test(
          text,
        ) || !text.startsWith("-"),
    )
      ? operands.length === 0 || texts.some((text) => /^(--list|-l|--(no-)?merged|--(no-)?contains)$/.test(text))
      : false;
  if (git.subcommand === "tag")
    return operands.length === 0 || texts.some((text) => /^(-l|--list)$/.test(text))
      ? !texts.some((text) => /^-[dfasum]|^--(delete|force|annotate|sign)/.test(text))
      : false;
  if (git.subcommand === "remote") return texts.every((text) => /^(-v|--verbose)$/.test(text)) || texts[0] === "get-url";
  if (git.subcommand === "worktree") return texts[0] === "list";
  if (git.subcommand === "stash") return texts[0] === "list" || texts[0] === "show";
  if (git.subcommand === "reflog") return texts.length === 0 || texts[0] === "show";
  return false;
}

function splitOption(word: Word): [string, Word | undefined] {
  const equals = word.text.indexOf("=");
  if (!word.text.startsWith("--") || equals < 0) return [word.text, undefined];
  return [word.text.slice(0, equals), { ...word, text: word.text.slice(equals + 1) }];
}

function present(word: Word | undefined): Word[] {
  return word ? [word] : [];
}
