import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { readOddFile, writeAtomic } from "../platform/files.ts";
import { UserError } from "../protocol/errors.ts";
import { PERMISSION_MODES } from "../protocol/permission.ts";

/**
 * What a worker needs to become its member. Travels as a file of mode 0600 whose path is the only argument: prompts have no
 * length limit there, keys show in no process list, and a pane's environment is the tmux server's, not ours.
 */
const BootSchema = z.object({
  version: z.literal(1),
  team: z.string(),
  teamFolder: z.string(),
  name: z.string(),
  epoch: z.int().min(1),
  /** The first user message. Absent: the member goes on from its transcript and reads its mail. */
  prompt: z.string().optional(),
  model: z.string().optional(),
  permissionMode: z.enum(PERMISSION_MODES),
  /** Nobody can answer questions, not even through the lead. */
  headless: z.boolean(),
  trust: z.boolean().optional(),
  /** Of the lead's command line; absolute. */
  addDirs: z.array(z.string()).optional(),
  /** Started by a person in a terminal of their own. */
  isByHand: z.boolean().optional(),
  /** Of a member that goes on: what was sent before to stop it was meant for its last life. */
  revivedAt: z.string().optional(),
  orphanTimeoutMs: z.int().min(0).optional(),
  env: z.record(z.string(), z.string()),
});
export type Boot = z.output<typeof BootSchema>;

export async function writeBoot(teamFolder: string, boot: Boot): Promise<string> {
  const path = join(teamFolder, "boot", `${boot.name}.${boot.epoch}.${randomBytes(4).toString("hex")}.json`);
  await writeAtomic(path, JSON.stringify(boot));
  return path;
}

/** Reads a boot file and removes it: it holds keys. A file that is none stays as it is. */
export async function takeBoot(path: string): Promise<Boot> {
  const { text, problem } = await readOddFile(path);
  const byHand = "To join a team by hand: roocode worker --team TEAM --name NAME";
  if (text === undefined)
    throw new UserError(`${problem === undefined ? `There is no boot file ${path}` : `${path} ${problem}`}. ${byHand}`);
  const read = BootSchema.safeParse(jsonOf(text));
  if (!read.success) throw new UserError(`${path} is no boot file of this RooCode. ${byHand}`);
  await rm(path, { force: true });
  return read.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
