import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { link, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { isErrno } from "../../../platform/files.ts";
import { UserError } from "../../../protocol/errors.ts";
import { isRecord } from "../../../protocol/record.ts";
import type { Envelope } from "../../../protocol/team.ts";
import { makeFolder, type TeamLayout } from "./layout.ts";
import { readOwnFile } from "./own-file.ts";

const KEY = /^[0-9a-f]{64}$/;
const MAX_KEY_BYTES = 100;

export type MailKeys = {
  /** The member's own key, made with its first message. It stays over restarts, so that mail of an earlier run is still proven. */
  own(name: string): Promise<string>;
  /** Undefined for a name that never wrote, or whose key file is not as we make them. */
  of(name: string): Promise<string | undefined>;
};

/** One key a member in the team's folder; each is read once. */
export function openMailKeys(layout: TeamLayout): MailKeys {
  const known = new Map<string, string>();

  async function of(name: string): Promise<string | undefined> {
    const before = known.get(name);
    if (before !== undefined) return before;
    // The name comes from a file that proves nothing yet.
    if (!/^[\p{L}\p{M}\p{N}_-]{1,64}$/u.test(name)) return undefined;
    const read = await readOwnFile(layout.key(name), MAX_KEY_BYTES);
    const key = "text" in read ? read.text.trim() : "";
    if (!KEY.test(key)) return undefined;
    known.set(name, key);
    return key;
  }

  return {
    of,
    async own(name) {
      const before = await of(name);
      if (before !== undefined) return before;
      await makeKey(layout, name);
      const made = await of(name);
      if (made === undefined) throw new UserError(`${layout.key(name)} is no key of ours (a regular file of mode 600). Remove it.`);
      return made;
    },
  };
}

/** The envelope's code, over all its fields but the code itself, in whatever order they stand. */
export function macOf(envelope: object, key: string): string {
  const { mac: _, ...fields } = { mac: undefined, ...envelope };
  return createHmac("sha256", key).update(canonical(fields)).digest("base64");
}

export function sealed(envelope: Envelope, key: string): Envelope {
  // As it will be read: JSON leaves out what is undefined.
  const plain: Envelope = JSON.parse(JSON.stringify(envelope));
  return { ...plain, mac: macOf(plain, key) };
}

export function isSealed(envelope: { mac?: unknown }, key: string): boolean {
  if (typeof envelope.mac !== "string") return false;
  const [given, right] = [Buffer.from(envelope.mac), Buffer.from(macOf(envelope, key))];
  return given.length === right.length && timingSafeEqual(given, right);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

/** Whole or not there; of two processes of one name that make it at once, one wins. */
async function makeKey(layout: TeamLayout, name: string): Promise<void> {
  await makeFolder(layout.keys);
  const aside = join(layout.keys, `.${randomBytes(6).toString("hex")}.tmp`);
  const handle = await open(aside, "wx", 0o600);
  try {
    await handle.writeFile(`${randomBytes(32).toString("hex")}\n`);
    await handle.chmod(0o600);
  } finally {
    await handle.close();
  }
  try {
    await link(aside, layout.key(name));
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}
