import { type Part, programOf, type Word } from "../command-line.ts";
import { below, isPolicyFolder, judgePath } from "../path-sandbox.ts";
import { containsHomeSecret } from "../protected-paths.ts";
import { touchesOf } from "../touches.ts";
import { type Detector, deny, type Finding, pathsOf, type Scene, stickyAsk } from "./finding.ts";

/** Layer 2 for commands: what they are known to write, take away or read. */
export const touchedPaths: Detector = (part, scene) => {
  const touches = touchesOf(part);
  const findings = [
    ...touches.writes.flatMap((word) => written(word, part, scene, /^(mv|ln|cp|rsync|install)$/.test(programOf(part)))),
    ...touches.removes.flatMap((word) => written(word, part, scene, programOf(part) !== "find")),
    ...touches.reads.flatMap((word) => read(word, part, scene, touches.isRecursive)),
  ];
  return findings;
};

function written(word: Word, part: Part, scene: Scene, replaces: boolean): Finding[] {
  return (pathsOf(word, part, scene.ground) ?? []).flatMap((path): Finding[] => {
    if (/^\/dev\/(tcp|udp)\//.test(path)) return [stickyAsk("it opens a connection to the network through the shell", "path")];
    const verdict = judgePath(path, "write", scene.ground, false);
    if (verdict.isOthers) return [deny(verdict.reason, "path")];
    if (verdict.isPolicy || (replaces && !word.isBelow && isPolicyFolder(verdict.resolved ?? path, scene.ground)))
      return [deny(verdict.isPolicy ? verdict.reason : `"${word.text}" holds what git or RooCode obeys`, "path")];
    if (verdict.place === "inside" && !verdict.isSticky) return [];
    return [stickyAsk(verdict.reason, "path")];
  });
}

function read(word: Word, part: Part, scene: Scene, isRecursive: boolean): Finding[] {
  return (pathsOf(word, part, scene.ground) ?? []).flatMap((path): Finding[] => {
    if (/^\/dev\/(tcp|udp)\//.test(path)) return [stickyAsk("it opens a connection to the network through the shell", "path")];
    const verdict = judgePath(path, "read", scene.ground, false);
    if (verdict.isSticky || verdict.place === "protected" || verdict.isSecret) return [stickyAsk(verdict.reason, "path")];
    const inHome = below(verdict.resolved ?? path, scene.ground.home, scene.ground);
    const reaches =
      verdict.place === "outside" &&
      isRecursive &&
      programOf(part) !== "find" &&
      (inHome ? containsHomeSecret(inHome) : below(scene.ground.home, path, scene.ground) !== undefined);
    return reaches ? [stickyAsk(`"${word.text}" holds secrets of the home directory`, "path")] : [];
  });
}
