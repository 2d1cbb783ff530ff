import { randomBytes } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { isErrno, writeAtomic } from "../platform/files.ts";
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

/** Reads a boot file and removes it: it holds keys. */
export async function takeBoot(path: string): Promise<Boot> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT"))
      throw new UserError(`There is no boot file ${path}. To join a team by hand: roocode worker --team TEAM --name NAME`);
    throw error;
  }
  await rm(path, { force: true });
  return BootSchema.parse(JSON.parse(text));
}
