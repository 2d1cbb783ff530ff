import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";

/** One hash over everything of a project that can execute or loosen: each item as text, in any order. */
function trustHash(items: readonly string[]): string {
  const hash = createHash("sha256");
  for (const item of [...items].sort()) hash.update(`${Buffer.byteLength(item)}:${item}\n`);
  return hash.digest("hex");
}

/** A folder is trusted for exactly the content that the person saw. Nothing to execute needs no trust, and loads no store. */
export async function isTrusted(storePath: string, folder: string, items: readonly string[]): Promise<boolean> {
  if (items.length === 0) return true;
  const { readTrustStore } = await import("./trust-store.ts");
  const store = await readTrustStore(storePath);
  return store.folders[await realpath(folder)]?.hash === trustHash(items);
}

/** What was accepted here before; undefined when nothing was. */
export async function acceptedItems(storePath: string, folder: string): Promise<readonly string[] | undefined> {
  const { readTrustStore } = await import("./trust-store.ts");
  return (await readTrustStore(storePath)).folders[await realpath(folder)]?.items;
}

export async function trustFolder(storePath: string, folder: string, items: readonly string[], at = new Date()): Promise<void> {
  const { changeTrustStore } = await import("./trust-store.ts");
  const real = await realpath(folder);
  const entry = { hash: trustHash(items), at: at.toISOString(), items: [...items] };
  await changeTrustStore(storePath, (store) => ({ ...store, folders: { ...store.folders, [real]: entry } }));
}
