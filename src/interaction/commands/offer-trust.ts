import { projectRules } from "../../runtime/permissions.ts";
import type { Surroundings } from "../../runtime/surroundings.ts";
import { acceptedItems, trustFolder } from "../../safety/trust.ts";
import { PlainScreen } from "../plain.ts";

/** On a terminal: shows all that the project brings which can run or loosen, and takes it on if the person accepts exactly that. */
export async function offerTrust(surroundings: Surroundings): Promise<void> {
  if (!process.stdin.isTTY) return;
  const { data, projectRoot, projectWish } = surroundings;
  const { isTrusted, items } = await projectRules(surroundings);
  if (isTrusted) return;
  const question = trustQuestion(projectRoot, items, projectWish.ignored, await acceptedItems(data.trust, projectRoot));
  // A screen of its own: what holds the input would keep a start that fails from ending.
  const screen = new PlainScreen({ input: process.stdin, output: process.stdout, isScreen: false });
  try {
    const answer = await screen.ask(question);
    if (/^y(es)?$/i.test(answer?.trim() ?? "")) await trustFolder(data.trust, projectRoot, items);
  } finally {
    screen.close();
  }
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
    "All of it is off until you accept exactly this. Accept it? [y]es [n]o > ",
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
  return item.replaceAll("\n", "\n      | ");
}
