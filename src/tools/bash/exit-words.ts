import { constants } from "node:os";
import type { CommandEnd } from "./start-command.ts";

/** What exits with 1 to say no: nothing found, they differ, it is not so. */
const ASKING =
  /^(?:e?grep|fgrep|zgrep|rg|diff|cmp|comm|test|\[\[?|pgrep|pkill|which|type|command -v|expr|git (?:grep|diff|merge-base|check-ignore|show-ref|diff-index|diff-files))(?=\s|$)/;
/** May stand before them: a folder that is not there says so itself. */
const NEUTRAL = /^cd(?=\s|$)/;

/** How a command ended, in words with its number, and whether that is a failure. Undefined for plain success. */
export function exitWords(command: string, { code, by }: CommandEnd): { words: string; isFailure: boolean } | undefined {
  if (by !== null) return { words: `ended by signal ${by.replace(/^SIG/, "")}`, isFailure: true };
  if (code === 0 || code === null) return undefined;
  const signal = code > 128 ? signalName(code - 128) : undefined;
  if (signal !== undefined) return { words: `exit code ${code}: ended by signal ${signal}`, isFailure: true };
  const isAnswer = code === 1 && saysNo(command);
  return { words: `exit code ${code}${isAnswer ? ": the answer is no, not a failure" : ""}`, isFailure: !isAnswer };
}

function signalName(number: number): string | undefined {
  return Object.entries(constants.signals)
    .find(([, value]) => value === number)?.[0]
    .replace(/^SIG/, "");
}

/** All that could have given the exit code are programs that say no by it. What is not plain to see is a failure. */
function saysNo(command: string): boolean {
  const last = lists(command).at(-1) ?? [];
  const programs = last.map(
    (pipeline) =>
      pipeline
        .at(-1)
        ?.trim()
        .replace(/^(?:\w+=\S*\s+)+/, "") ?? "",
  );
  return programs.some((one) => ASKING.test(one)) && programs.every((one) => ASKING.test(one) || NEUTRAL.test(one));
}

/** Commands of a line by `;`, then `&&` and `||`, then `|`; quotes hold together. */
function lists(command: string): string[][][] {
  const found: string[][][] = [[[""]]];
  const pieces = command.trim().match(/'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|&&|\|\||[;\n|]|[\s\S]/g) ?? [];
  for (const piece of pieces) {
    const list = found.at(-1);
    const pipeline = list?.at(-1);
    if (piece === ";" || piece === "\n") found.push([[""]]);
    else if (piece === "&&" || piece === "||") list?.push([""]);
    else if (piece === "|") pipeline?.push("");
    else pipeline?.push((pipeline.pop() ?? "") + piece);
  }
  return found.filter((list) => list.some((pipeline) => pipeline.some((part) => part.trim() !== "")));
}
