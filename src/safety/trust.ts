import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import * as z from "zod";
import { readTextOrUndefined, writeAtomic } from "../platform/files.ts";
import { withLock } from "../platform/lock.ts";

const Trusted = z.object({ hash: z.string(), at: z.string() });
const TrustStore = z.object({ version: z.literal(1), folders: z.record(z.string(), z.unknown()) });
type TrustStore = { folders: Record<string, z.infer<typeof Trusted>> };

/** One hash over everything of a project that can execute or loosen: each item as text, in any order. */
function trustHash(items: readonly string[]): string {
  const hash = createHash("sha256");
  for (const item of [...items].sort()) hash.update(`${Buffer.byteLength(item)}:${item}\n`);
  return hash.digest("hex");
}

/** A folder is trusted for exactly the content that the person saw. Nothing to execute needs no trust. */
export async function isTrusted(storePath: string, folder: string, items: readonly string[]): Promise<boolean> {
  if (items.length === 0) return true;
  const store = await readStore(storePath);
  return store.folders[await realpath(folder)]?.hash === trustHash(items);
}

export async function trustFolder(storePath: string, folder: string, items: readonly string[], at = new Date()): Promise<void> {
  const real = await realpath(folder);
  await withLock(storePath, async () => {
    const store = await readStore(storePath);
    const folders = { ...store.folders, [real]: { hash: trustHash(items), at: at.toISOString() } };
    await writeAtomic(storePath, `${JSON.stringify({ version: 1, folders }, undefined, 2)}\n`);
  });
}

/** A store that can't be read trusts nothing; an entry that can't be read spoils no other. */
async function readStore(path: string): Promise<TrustStore> {
  const empty: TrustStore = { folders: {} };
  const text = await readTextOrUndefined(path);
  if (text === undefined) return empty;
  try {
    const { folders } = TrustStore.parse(JSON.parse(text));
    const readable = Object.entries(folders).flatMap(([folder, entry]) => {
      const { data } = Trusted.safeParse(entry);
      return data ? [[folder, data] as const] : [];
    });
    return { folders: Object.fromEntries(readable) };
  } catch {
    return empty;
  }
}
