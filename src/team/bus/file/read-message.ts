import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { isErrno } from "../../../platform/files.ts";
import type { Envelope } from "../../../protocol/team.ts";
import { EnvelopeSchema } from "../schemas.ts";

/** The largest file of a message; a longer text travels as an artifact. */
export const MAX_MESSAGE_BYTES = 256 * 1024;

export type ReadMessage = { envelope: Envelope } | { bad: string; from?: string } | { gone: true };

/** Trusts nothing about the file: anyone of this machine who may write to the folder could have made it. */
export async function readMessage(path: string, owner: string): Promise<ReadMessage> {
  const text = await readRegular(path);
  if (typeof text !== "string") return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { bad: "it is no JSON" };
  }
  const parsed = EnvelopeSchema.safeParse(value);
  const from = senderOf(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { bad: `${issue?.path.join(".") || "envelope"}: ${issue?.message ?? "wrong type"}`, ...(from ? { from } : {}) };
  }
  if (parsed.data.to !== owner) return { bad: `it is addressed to "${parsed.data.to}"`, ...(from ? { from } : {}) };
  return { envelope: parsed.data };
}

async function readRegular(path: string): Promise<string | Exclude<ReadMessage, { envelope: Envelope }>> {
  // O_NONBLOCK: opening a FIFO must not wait for its other end.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(path, flags);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return { gone: true };
    if (isErrno(error, "ELOOP", "ENXIO", "EACCES")) return { bad: "it is no regular file that we may read" };
    throw error;
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return { bad: "it is no regular file" };
    if (process.getuid && stat.uid !== process.getuid()) return { bad: `it belongs to another user (${stat.uid})` };
    if (stat.size > MAX_MESSAGE_BYTES) return { bad: `it has ${stat.size} bytes, ${MAX_MESSAGE_BYTES} are allowed` };
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

function senderOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("from" in value)) return undefined;
  return typeof value.from === "string" ? value.from : undefined;
}
