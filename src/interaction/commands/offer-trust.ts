import { projectPaths } from "../../platform/paths.ts";
import { isRecord } from "../../protocol/record.ts";
import { projectRules } from "../../runtime/permissions.ts";
import { readSurroundings, type Surroundings } from "../../runtime/surroundings.ts";
import { ownFile } from "../../safety/own-files.ts";
import { acceptedItems, trustFolder } from "../../safety/trust.ts";
import { PlainScreen } from "../plain.ts";

/**
 * On a terminal: shows all that the project brings which can run or loosen, and takes it on if the person accepts exactly that. Gives
 * the surroundings as they are then.
 */
export async function offerTrust(surroundings: Surroundings): Promise<Surroundings> {
  if (!process.stdin.isTTY) return surroundings;
  const { data, projectRoot, projectWish } = surroundings;
  const { isTrusted, items } = await projectRules(surroundings);
  if (isTrusted) return surroundings;
  const question = trustQuestion(projectRoot, items, projectWish.ignored, await acceptedItems(data.trust, projectRoot));
  // A screen of its own: what holds the input would keep a start that fails from ending.
  const screen = new PlainScreen({ input: process.stdin, output: process.stdout, isScreen: false });
  try {
    const refusal = new AbortController();
    screen.listen({
      key: (key) => {
        if (key === "escape") refusal.abort();
        else if (key === "interrupt") process.kill(process.pid, "SIGINT");
      },
      line: () => false,
    });
    const answer = await screen.ask(question, refusal.signal);
    if (!/^y(es)?$/i.test(answer?.trim() ?? "")) return surroundings;
    return await accept(surroundings, items);
  } finally {
    screen.close();
  }
}

async function accept(surroundings: Surroundings, items: readonly string[]): Promise<Surroundings> {
  const { data, projectRoot, repository, isLocalForeign, cwd, env, flags } = surroundings;
  if (!isLocalForeign || repository) {
    await trustFolder(data.trust, projectRoot, items);
    return surroundings;
  }
  // The local settings are the person's own from now on, and only the rest is the project's; what was not shown is not among it.
  await ownFile(data.trust, projectPaths(projectRoot).localConfig);
  const then = await readSurroundings(cwd, env, flags);
  const rest = (await projectRules(then)).items;
  if (rest.every((item) => items.includes(item))) await trustFolder(data.trust, projectRoot, rest);
  return then;
}

/** `before`: what was accepted here the last time; then the difference is marked. */
export function trustQuestion(
  projectRoot: string,
  items: readonly string[],
  ignored: readonly string[],
  before: readonly string[] | undefined,
): string {
  const mark = (item: string) => (before === undefined || before.includes(item) ? " " : "+");
  const gone = (before ?? []).filter((item) => !items.includes(item));
  return [
    before === undefined
      ? `${projectRoot} brings ${counts(items)} that can run or allow without asking:`
      : `What ${projectRoot} brings has changed since you accepted it (+ new, - gone); now ${counts(items)}:`,
    ...items.map((item) => `${mark(item)} ${indented(item)}`),
    ...gone.map((item) => `- ${indented(item)}`),
    ...ignored.map((item) => `  ${item} (ignored)`),
    "All of it is off until you accept exactly this. Accept it? [y]es [n]o (Esc) > ",
  ].join("\n");
}

function counts(items: readonly string[]): string {
  const found = new Map<string, number>();
  for (const item of items) {
    const kind = KINDS[item.split(" ", 1)[0] ?? ""] ?? "definition";
    found.set(kind, (found.get(kind) ?? 0) + 1);
  }
  return [...found].map(([kind, count]) => `${count} ${kind}${count === 1 ? "" : "s"}`).join(", ");
}

const KINDS: Readonly<Record<string, string>> = {
  hook: "hook",
  server: "server",
  allow: "allow rule",
  addDirs: "folder",
  "team.check": "check",
};

/** A text of several lines can't look like an entry of its own. */
function indented(item: string): string {
  return withoutJson(item).replaceAll("\n", "\n      | ");
}

/** What stands at the end as JSON, with nothing left out: `{timeout: 5, if: tool is Bash}`. */
function withoutJson(item: string): string {
  for (let at = item.indexOf(" {"); at >= 0; at = item.indexOf(" {", at + 1)) {
    try {
      const end = item.slice(at + 1);
      const value: unknown = JSON.parse(end);
      // As we wrote it; in a command's own words a key may stand twice, and the first would not be shown.
      if (JSON.stringify(value) === end) return `${item.slice(0, at)} ${readable(value)}`;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return item;
}

function readable(value: unknown): string {
  if (typeof value === "string") return /^[^\s"'{}[\],:]([^"{}[\],\n\r]*[^\s"{}[\],:])?$/.test(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(readable).join(", ")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${/^\w[\w-]*$/.test(key) ? key : JSON.stringify(key)}: ${readable(one)}`)
    .join(", ")}}`;
}
