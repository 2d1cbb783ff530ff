import { argsOf, knownWord, type Part } from "./command-line.ts";
import { forgetPositions, resolveFolders, type Scope, setPositions } from "./scope.ts";
import { unknownWord } from "./word-pieces.ts";

/** What a builtin leaves behind for the commands after it: another folder, variables, positions. */
export function applyBuiltin<Body>(part: Part, scope: Scope<Body>, home: string): void {
  const name = part.words[0]?.text;
  const args = argsOf(part);
  switch (name) {
    case "cd":
    case "pushd": {
      const target =
        args.find((word) => !/^-[LPe@]+$/.test(word.text) && word.text !== "--" && word.text !== "-n") ??
        (name === "cd" ? knownWord(home) : undefined);
      scope.cwds = target && target.text !== "-" ? resolveFolders(target, scope.cwds) : [];
      scope.variables.set("PWD", scope.cwds.length === 1 ? knownWord(scope.cwds[0] ?? "") : unknownWord("$PWD"));
      return;
    }
    case "popd":
      scope.cwds = [];
      return;
    case "export":
    case "declare":
    case "typeset":
    case "local":
    case "readonly":
      for (const word of args) {
        const match = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word.text);
        if (match) scope.variables.set(match[1] ?? "", { ...word, text: match[2] ?? "" });
      }
      return;
    case "unset":
      for (const word of args) scope.variables.set(word.text, knownWord(""));
      return;
    case "read":
    case "mapfile":
    case "readarray":
    case "getopts":
      for (const word of args)
        if (/^[A-Za-z_]\w*$/.test(word.text)) scope.variables.set(word.text, { ...unknownWord(`$${word.text}`), runs: part.before });
      return;
    case "set": {
      const dashes = args.findIndex((word) => word.text === "--");
      if (dashes >= 0) setPositions(scope.variables, args.slice(dashes + 1));
      return;
    }
    case "shift":
      forgetPositions(scope.variables);
      return;
    default:
  }
}
