import * as z from "zod";
import { UserError } from "../protocol/errors.ts";
import type { PortBlock } from "../protocol/team.ts";
import { exists, readTextOrUndefined, writeAtomic } from "./files.ts";
import { withLock } from "./lock.ts";

export type PortRange = { from: number; size: number };

const TakenSchema = z.array(z.object({ worktree: z.string(), first: z.int(), size: z.int() }));
type Taken = z.output<typeof TakenSchema>[number];
const LAST_PORT = 65_535;

/**
 * Ports that no other worktree in the record has; a worktree that asks again gets what it had. A block is free again when the folder of
 * its worktree is gone, whoever took it away. Whether a program listens on them is not asked.
 */
export async function takePorts(record: string, worktree: string, range: PortRange): Promise<PortBlock> {
  return withLock(record, async () => {
    const before = await readTaken(record);
    const living = await Promise.all(before.map(({ worktree: path }) => exists(path)));
    const taken = before.filter((_, index) => living[index]);
    const own = taken.find((one) => one.worktree === worktree);
    if (own) return { first: own.first, size: own.size };
    const block = firstFree(taken, range);
    await writeAtomic(record, `${JSON.stringify([...taken, { worktree, ...block }], undefined, 1)}\n`);
    return block;
  });
}

/** Blocks of other settings may have other sizes. */
function firstFree(taken: readonly Taken[], { from, size }: PortRange): PortBlock {
  for (let first = from; first + size - 1 <= LAST_PORT; first += size) {
    if (!taken.some((one) => first < one.first + one.size && one.first < first + size)) return { first, size };
  }
  throw new UserError(
    `There are no ${size} free ports from ${from} on: ${taken.length} worktrees have them. Tidy away teams, or set team.worktree.ports.`,
  );
}

async function readTaken(record: string): Promise<Taken[]> {
  const text = await readTextOrUndefined(record);
  if (text === undefined) return [];
  try {
    return TakenSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new UserError(`${record} can't be read. When no team runs, delete it: it says which worktree has which ports.`, { cause });
  }
}
