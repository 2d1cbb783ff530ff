import { isRecord } from "../../../protocol/record.ts";
import type { Envelope } from "../../../protocol/team.ts";
import { wrongRole } from "../../mail-roles.ts";
import { MAX_MESSAGE_BYTES } from "../bad-mail.ts";
import { EnvelopeSchema } from "../schemas.ts";
import { isSealed, type MailKeys } from "./mail-keys.ts";
import { readOwnFile } from "./own-file.ts";

/** `from` only where the sender's key proves it. */
export type ReadMessage = { envelope: Envelope } | { bad: string; from?: string } | { gone: true };

/** Trusts nothing about the file: anyone of this machine who may write to the folder could have made it. */
export async function readMessage(path: string, owner: string, keys: MailKeys): Promise<ReadMessage> {
  const read = await readOwnFile(path, MAX_MESSAGE_BYTES);
  if (!("text" in read)) return read;
  const value = parsed(read.text);
  if (!isRecord(value)) return { bad: "it is no JSON object" };
  const unproven = await whyUnproven(value, keys);
  if (unproven !== undefined) return { bad: unproven };
  const { data, error } = EnvelopeSchema.safeParse(value);
  const from = String(value.from);
  if (!data) {
    const issue = error.issues[0];
    return { bad: `${issue?.path.join(".") || "envelope"}: ${issue?.message ?? "wrong type"}`, from };
  }
  if (data.to !== owner) return { bad: `it is addressed to "${data.to}"`, from };
  const role = wrongRole(data, owner);
  if (role !== undefined) return { bad: role, from };
  const { mac: _, ...envelope } = data;
  return { envelope };
}

/** Before this says undefined, no field but the sender's name is looked at. */
async function whyUnproven(value: Record<string, unknown>, keys: MailKeys): Promise<string | undefined> {
  if (typeof value.from !== "string") return "it names no sender";
  if (value.mac === undefined) return "it is not signed";
  const key = await keys.of(value.from);
  try {
    return key !== undefined && isSealed(value, key) ? undefined : "its signature is not that of the sender it names";
  } catch (error) {
    // Nested so deep that it can't be written again: none of ours.
    if (error instanceof RangeError) return "its signature can't be checked";
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
