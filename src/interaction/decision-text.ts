import type { LoggedDecision } from "../safety/audit-log.ts";
import { decisionWord } from "../safety/decision-word.ts";

/** A past decision as one line. */
export function decisionLine(entry: LoggedDecision): string {
  const time = (entry.at ?? "").replace("T", " ").slice(0, 19);
  const what = `${entry.tool ?? "?"}(${(entry.subject ?? "").replace(/\s+/g, " ").slice(0, 100)})`;
  return `${time}  ${(entry.id ?? "-").padEnd(12)} ${(entry.agent ?? "").padEnd(8)} ${decisionWord(entry).padEnd(5)} ${entry.layer ?? ""}  ${what}`;
}
