import { PERMISSION_MODES } from "../../protocol/permission.ts";
import { OUTPUT_FORMATS } from "../print.ts";
import type { TalkArguments } from "./talk.ts";

const COMMANDS = new Set([
  "team",
  "worker",
  "demo",
  "permissions",
  "mcp",
  "skills",
  "commands",
  "agents",
  "sessions",
  "memory",
  "hooks",
  "import",
  "config",
  "doctor",
  "debug",
  "completion",
]);
const DEFAULT_TURNS = 50;

/**
 * The usual forms of `roocode -p`, read without yargs, whose loading costs as much as everything else up to the first request.
 * What is not plainly one of them is `undefined` and yargs' to read: commands, unknown flags, wrong or missing values, repeated
 * flags, quotes, and words that yargs might take for a value of the flag before.
 */
export function readPlainPrint(argv: readonly string[]): TalkArguments | undefined {
  const words: string[] = [];
  const found = new Map<string, string>();
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (!word.startsWith("-")) {
      if (!isPlain(word)) return undefined;
      words.push(word);
      continue;
    }
    const flag = FLAGS.get(word);
    if (!flag || found.has(flag.name)) return undefined;
    if (flag.accepts) {
      at += 1;
      const value = argv[at] ?? "";
      if (!isPlain(value) || !flag.accepts(value)) return undefined;
      found.set(flag.name, value);
    } else found.set(flag.name, "");
  }
  const [first] = words;
  if (!found.has("print") || words.some((word) => COMMANDS.has(word))) return undefined;
  const model = found.get("model");
  const maxCost = found.get("max-cost");
  const fallbackModel = found.get("fallback-model");
  const mode = PERMISSION_MODES.find((one) => one === found.get("permission-mode"));
  return {
    print: true,
    prompt: first === undefined ? undefined : words.join(" "),
    outputFormat: OUTPUT_FORMATS.find((one) => one === found.get("output-format")) ?? "text",
    maxTurns: Number(found.get("max-turns") ?? DEFAULT_TURNS),
    resume: found.get("resume") ?? (found.has("continue") ? "latest" : undefined),
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(maxCost === undefined ? {} : { maxCost: Number(maxCost) }),
    ...(fallbackModel === undefined ? {} : { fallbackModel }),
    ...(found.has("trust") ? { trust: true } : {}),
    ...(found.has("debug") ? { debug: true } : {}),
  };
}

/** yargs reads "true" and "false" behind a switch as its value, and takes quotes off. */
function isPlain(word: string): boolean {
  return word !== "" && word !== "true" && word !== "false" && !/^[-"']/.test(word);
}

type Flag = { name: string; accepts?: (value: string) => boolean };
const any = () => true;
const PRINT: Flag = { name: "print" };
const CONTINUE: Flag = { name: "continue" };
const FLAGS: ReadonlyMap<string, Flag> = new Map([
  ["-p", PRINT],
  ["--print", PRINT],
  ["-c", CONTINUE],
  ["--continue", CONTINUE],
  ["--trust", { name: "trust" }],
  ["--debug", { name: "debug" }],
  ["--verbose", { name: "verbose" }],
  ["--model", { name: "model", accepts: any }],
  ["--fallback-model", { name: "fallback-model", accepts: any }],
  ["--resume", { name: "resume", accepts: any }],
  ["--max-turns", { name: "max-turns", accepts: (value) => /^[1-9]\d{0,6}$/.test(value) }],
  ["--max-cost", { name: "max-cost", accepts: (value) => /^\d{1,6}(\.\d{1,4})?$/.test(value) && Number(value) > 0 }],
  ["--permission-mode", { name: "permission-mode", accepts: (value) => PERMISSION_MODES.some((one) => one === value) }],
  ["--output-format", { name: "output-format", accepts: (value) => OUTPUT_FORMATS.some((one) => one === value) }],
]);
