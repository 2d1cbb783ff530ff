import * as z from "zod";
import { readOddFile } from "../platform/files.ts";
import { UserError } from "../protocol/errors.ts";
import { FULL_FILES, lineHash } from "./audit.ts";

const text = z.string().optional();
const texts = z.array(z.string()).optional();
/** Lines of an earlier version have no id. */
const Logged = z.looseObject({
  ...{ id: text, at: z.string(), agent: z.string(), session: text, tool: z.string(), kind: text, subject: z.string(), paths: texts },
  ...{ cwd: text, root: text, mode: text, decision: z.string(), sticky: z.boolean().optional(), layer: text, rule: text },
  ...{ source: text, reason: text },
  ...{ parts: texts, asked: z.looseObject({ layer: z.string(), reason: z.string() }).optional(), previous: text },
});
export type LoggedDecision = z.infer<typeof Logged>;
type RawLine = { file: string; number: number; text: string; entry: LoggedDecision | undefined };
export type LogFilter = {
  session?: string | undefined;
  tool?: string | undefined;
  agent?: string | undefined;
  deniedOnly?: boolean | undefined;
};

/** The decisions of a log and its full files, the oldest first. */
export async function readAudit(path: string, filter: LogFilter = {}): Promise<LoggedDecision[]> {
  const lines = await rawLines(path);
  return lines.flatMap(({ entry }) => (entry && passes(entry, filter) ? [entry] : []));
}

function passes(entry: LoggedDecision, { session, tool, agent, deniedOnly }: LogFilter): boolean {
  return (
    (session === undefined || entry.session?.startsWith(session) === true) &&
    (tool === undefined || entry.tool === tool) &&
    (agent === undefined || entry.agent === agent) &&
    (!deniedOnly || entry.decision === "deny")
  );
}

/** What does not fit together, each as a sentence with file and line; nothing where the log is whole. */
export async function verifyAudit(path: string): Promise<{ lines: number; chains: number; problems: string[] }> {
  const lines = await rawLines(path);
  const problems: string[] = [];
  const seen = new Set<string>();
  const chains = new Map<string, { number: number; hash: string }>();
  // What went with the oldest file is not missed.
  const isWhole = !lines.some(({ file }) => file === `${path}.${FULL_FILES}`);
  for (const { file, number, text, entry } of lines) {
    const place = `${file}:${number}`;
    const found = /^([0-9a-f]+)-(\d+)$/.exec(entry?.id ?? "");
    const hash = lineHash(text);
    seen.add(hash);
    if (!entry) problems.push(`${place} is no line of an audit log.`);
    if (!entry || entry.id === undefined) continue;
    const [, chain = "", count = "0"] = found ?? [];
    const before = chains.get(chain);
    chains.set(chain, { number: Number(count), hash });
    if (before) {
      if (Number(count) !== before.number + 1)
        problems.push(`${place}: lines are missing between ${chain}-${before.number} and ${entry.id}.`);
      else if (entry.previous !== before.hash) problems.push(`${place}: the line ${chain}-${before.number} before it was changed.`);
    } else if (Number(count) !== 1 ? isWhole : entry.previous !== "" && isWhole && !seen.has(entry.previous ?? ""))
      problems.push(`${place}: what stood before ${entry.id} was changed or is missing.`);
  }
  return { lines: lines.length, chains: chains.size, problems };
}

async function rawLines(path: string): Promise<RawLine[]> {
  const files = [...Array.from({ length: FULL_FILES }, (_, index) => `${path}.${FULL_FILES - index}`), path];
  const lines: RawLine[] = [];
  for (const file of files) {
    const { text = "", problem } = await readOddFile(file);
    if (problem !== undefined)
      throw new UserError(`The audit log ${file} ${problem}, so decisions are not recorded. Move it away; a new one is begun.`);
    for (const [index, line] of text.split("\n").entries())
      if (line !== "") lines.push({ file, number: index + 1, text: line, entry: readEntry(line) });
  }
  return lines;
}

function readEntry(line: string): LoggedDecision | undefined {
  try {
    return Logged.safeParse(JSON.parse(line)).data;
  } catch {
    // A line that was cut off by the end of a process, or by hand: the check names it.
    return undefined;
  }
}
