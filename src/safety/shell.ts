import { parse } from "unbash";
import { knownWord, type Line, type Word } from "./command-line.ts";
import { POSITIONS } from "./scope.ts";
import { anyCommand, script } from "./shell/statements.ts";
import { HARD_LIMITS, LIMITS, LimitReached, type Scope, Walk } from "./shell/walk.ts";
import { suspiciousText } from "./suspicious-text.ts";

/** The only door to the parser: a command line into its simple commands, with everything that they open. Never throws. */
export function analyze(text: string, place: { cwd: string; home: string }): Line {
  const walk = new Walk(place.home, { script, command: anyCommand });
  const variables = new Map<string, Word>([
    ["HOME", knownWord(place.home)],
    ["PWD", knownWord(place.cwd)],
    ["IFS", knownWord(" \t\n")],
    ...POSITIONS.map((name): [string, Word] => [name, knownWord("")]),
  ]);
  const scope: Scope = {
    variables,
    functions: new Map(),
    cwds: [place.cwd],
    before: [],
    outer: undefined,
    stdin: undefined,
    isBackground: false,
  };
  let isOverLimit = text.length > LIMITS.text;
  try {
    if (text.length > HARD_LIMITS.text) throw new LimitReached();
    script(walk, parse(text), scope);
  } catch (error) {
    isOverLimit = true;
    if (!(error instanceof LimitReached)) walk.problems.push("the command could not be analysed");
  }
  isOverLimit ||= walk.parts.length > LIMITS.parts || walk.deepest > LIMITS.depth;
  return { text, parts: walk.parts, problems: [...suspiciousText(text, walk.parts), ...walk.problems], isOverLimit, bombs: walk.bombs };
}
