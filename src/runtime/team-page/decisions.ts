import { UserError } from "../../protocol/errors.ts";
import { type LoggedDecision, readAudit } from "../../safety/audit-log.ts";

type LayerCount = { layer: string; allowed: number; denied: number; asked: number };
export type Decisions = {
  total: number;
  /** By the layer that decided; `asked` by the layer that wanted a person's word. */
  layers: LayerCount[];
  /** Denials, and what a person was asked; the newest, oldest first. */
  notable: LoggedDecision[];
  notableCount: number;
  /** Why there are none. */
  problem?: string;
};

const MOST_NOTABLE = 300;

/** What the permission layers decided in a team, from its audit log. */
export async function teamDecisions(path: string): Promise<Decisions> {
  try {
    return countDecisions(await readAudit(path));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { ...countDecisions([]), problem: error.message };
  }
}

export function countDecisions(entries: readonly LoggedDecision[]): Decisions {
  const layers = new Map<string, LayerCount>();
  const count = (layer: string, what: "allowed" | "denied" | "asked") => {
    const row = layers.get(layer) ?? { layer, allowed: 0, denied: 0, asked: 0 };
    row[what]++;
    layers.set(layer, row);
  };
  for (const { layer = "unknown", decision, asked } of entries) {
    count(layer, decision === "allow" ? "allowed" : "denied");
    if (asked) count(asked.layer, "asked");
  }
  const notable = entries.filter(({ decision, asked }) => decision !== "allow" || asked !== undefined);
  return {
    total: entries.length,
    layers: [...layers.values()].sort((a, b) => a.layer.localeCompare(b.layer)),
    notable: notable.slice(-MOST_NOTABLE),
    notableCount: notable.length,
  };
}
