import { type Part, programOf, type Word } from "../command-line.ts";
import { type GitCommand, onlyReads, readGit } from "../git-command.ts";
import { reachesOthers, type TeamPlace } from "../path-sandbox.ts";
import { type Detector, deny, type Finding, pathsOf, type Scene } from "./finding.ts";

const TEAM_BRANCH = /^(refs\/heads\/|heads\/)?worktree-team-/;

/** Worktrees share one repository: what a teammate's git must not reach beside its own branch and folder. */
export const teamReach: Detector = (part, scene) => {
  const { team } = scene.ground;
  if (!team || programOf(part) !== "git") return [];
  const git = readGit(part);
  const findings: Finding[] = [];
  if (!onlyReads(git) && placesOf(part, git, scene).some((path) => reachesOthers(path, scene.ground)))
    findings.push(deny("this git works in the primary checkout or in another teammate's worktree", "path"));
  const shared = sharedReason(git, team);
  if (shared) findings.push(deny(shared, "path"));
  return findings;
};

function placesOf(part: Part, git: GitCommand, { ground }: Scene): string[] {
  const named = [git.gitDir, git.workTree].filter((word) => word !== undefined);
  const moved = git.folders.length > 0 ? [joinFolders(git.folders)] : [];
  const words: Word[] = [...named, ...moved];
  return [...(moved.length === 0 ? part.cwds : []), ...words.flatMap((word) => pathsOf(word, part, ground) ?? [])];
}

/** Each `-C` starts from the one before. */
function joinFolders(folders: readonly Word[]): Word {
  return folders.reduce((before, word) =>
    word.text.startsWith("/") ? word : { ...word, text: `${before.text}/${word.text}`, isKnown: before.isKnown && word.isKnown },
  );
}

function sharedReason(git: GitCommand, team: TeamPlace): string | undefined {
  const texts = git.args.map((word) => word.text);
  const operands = texts.filter((text) => !text.startsWith("-"));
  const isOther = (name: string) => !isOwn(name, team);
  const has = (pattern: RegExp) => texts.some((text) => pattern.test(text));
  switch (git.subcommand) {
    case "stash":
      return /^(list|show)$/.test(texts[0] ?? "")
        ? undefined
        : "the stash is shared with the primary checkout; commit on your own branch instead";
    case "worktree":
      return texts[0] === "list" ? undefined : "worktrees of a team are made and removed by the system";
    case "branch":
      return has(/^(-[a-zA-Z]*[dDmMcCf]|--(delete|move|copy|force|set-upstream|unset-upstream|edit))/) && operands.some(isOther)
        ? `the branch "${operands.find(isOther) ?? ""}" is not yours`
        : undefined;
    case "checkout":
      return checksOutOther(texts, team);
    case "switch":
      return operands[0] !== undefined && isOther(operands[0]) && !has(/^(-c|--create|-d|--detach|--orphan)$/)
        ? `the branch "${operands[0]}" is not yours`
        : undefined;
    case "update-ref":
    case "symbolic-ref":
      return operands.some((name) => name.startsWith("refs/") && isOther(name)) ? "it moves a branch that is not yours" : undefined;
    case "push":
    case "fetch":
    case "pull": {
      const target = operands
        .map((text) => text.split(":")[1])
        .find((name) => name !== undefined && name !== "" && !name.startsWith("refs/remotes/") && isOther(name) && !name.startsWith("//"));
      const isLocal = git.subcommand !== "push" || operands[0] === "." || operands[0]?.startsWith("/") === true;
      return (target !== undefined && isLocal) ||
        operands.slice(1).some((name) => TEAM_BRANCH.test(name) && git.subcommand === "push" && isOther(name))
        ? "it moves a branch that is not yours"
        : undefined;
    }
    case "gc":
    case "prune":
    case "repack":
    case "reflog":
      return git.subcommand === "reflog" && !/^(expire|delete)$/.test(texts[0] ?? "")
        ? undefined
        : "the store of the repository is shared by the team";
    default:
      return undefined;
  }
}

/** `git checkout` also means files; a branch is what is named like one and stands before `--`. */
function checksOutOther(texts: readonly string[], team: TeamPlace): string | undefined {
  const end = texts.indexOf("--");
  const target = (end < 0 ? texts : texts.slice(0, end)).find((text) => !text.startsWith("-"));
  if (target === undefined || isOwn(target, team)) return undefined;
  const takes =
    texts.includes("-B") ||
    (!texts.includes("-b") && end < 0 && (TEAM_BRANCH.test(target) || /^(main|master|develop|trunk)$/.test(target)));
  return takes ? `the branch "${target}" is not yours` : undefined;
}

function isOwn(name: string, team: TeamPlace): boolean {
  return name.replace(/^refs\/heads\/|^heads\//, "") === team.ownBranch;
}
