import { argsOf, hasLong, type Part, parseOptions, programOf, type Word } from "../command-line.ts";
import { readGit } from "../git-command.ts";
import { judgePath } from "../path-sandbox.ts";
import { touchesOf } from "../touches.ts";
import { type Detector, deny, type Finding, pathsOf, type Scene, stickyAsk } from "./finding.ts";
import { catastrophe, isWholeProject } from "./system-places.ts";

/** Recursive removal by any program, and recursive changes of mode or owner. */
export const removals: Detector = (part, scene) => {
  const name = programOf(part);
  const touches = touchesOf(part);
  // What find hands over is everything below, one by one.
  if (name === "rm" || name === "trash" || name === "unlink" || name === "shred")
    return touches.removes
      .filter((word) => touches.isRecursive || word.isBelow)
      .flatMap((word) => judgeTarget(word, part, scene, "removes"));
  if (name === "git") return gitClean(part, scene);
  if (touches.removes.length > 0 && name !== "rmdir") return touches.removes.flatMap((word) => onlyCatastrophe(word, part, scene, name));
  return isRecursiveChange(part) ? permissionTargets(part).flatMap((word) => onlyCatastrophe(word, part, scene, name)) : [];
};

export function judgeTarget(word: Word, part: Part, scene: Scene, verb: string): Finding[] {
  const paths = pathsOf(word, part, scene.ground);
  if (!paths) return [stickyAsk(`what "${word.text}" ${verb} is only known when it runs`)];
  const findings = paths.flatMap((path): Finding[] => {
    const loss = catastrophe(path, scene.ground);
    if (loss) return [deny(`it ${verb} ${loss}`)];
    if (word.isBelow ? false : isWholeProject(path, scene.ground)) return [stickyAsk(`it ${verb} the whole project`)];
    if (judgePath(path, "write", scene.ground, false).place === "outside")
      return [stickyAsk(`it ${verb} "${word.text}", which is outside the workspace`)];
    return [];
  });
  return findings;
}

function onlyCatastrophe(word: Word, part: Part, scene: Scene, name: string): Finding[] {
  const paths = pathsOf(word, part, scene.ground) ?? [];
  return paths.flatMap((path) => {
    const loss = catastrophe(path, scene.ground);
    return loss ? [deny(`"${name}" reaches ${loss}`)] : [];
  });
}

function gitClean(part: Part, scene: Scene): Finding[] {
  const git = readGit(part);
  if (git.subcommand !== "clean" || git.args.some((word) => /^(-[a-zA-Z]*n|--dry-run)/.test(word.text))) return [];
  const named = git.args.filter((word) => !word.text.startsWith("-")).flatMap((word) => onlyCatastrophe(word, part, scene, "git clean"));
  if (named.length > 0) return named;
  const start = git.workTree ?? git.folders.at(-1);
  if (!start)
    return part.cwds.flatMap((cwd) =>
      catastrophe(cwd, scene.ground) ? [deny(`git clean reaches ${catastrophe(cwd, scene.ground) ?? cwd}`)] : [],
    );
  return onlyCatastrophe(start, part, scene, "git clean");
}

function isRecursiveChange(part: Part): boolean {
  if (!/^(chmod|chown|chgrp|setfacl|chattr|chcon|xattr)$/.test(programOf(part))) return false;
  const options = parseOptions(argsOf(part));
  return options.flags.has("R") || options.flags.has("r") || hasLong(options, "recursive", 1);
}

function permissionTargets(part: Part): readonly Word[] {
  const { operands } = parseOptions(argsOf(part), ["m", "x", "modify", "remove", "reference", "from"]);
  // The mode or owner may stand first or not at all (--reference); a word that is no path does no harm here.
  return operands;
}
