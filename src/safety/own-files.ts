import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { exists, readOddFile } from "../platform/files.ts";

/**
 * Where no git tells what came along, nothing in a file shows who wrote it: it may have lain in an archive. It is the person's own
 * when it reads as RooCode left it, or as the person accepted it.
 */
export async function isOwnFile(storePath: string, file: string): Promise<boolean> {
  const { readTrustStore } = await import("./trust-store.ts");
  const { files } = await readTrustStore(storePath);
  return files[await realpath(file)] === (await hashOf(file));
}

/** From now on the file as it stands is the person's own. */
export async function ownFile(storePath: string, file: string): Promise<void> {
  const { changeTrustStore } = await import("./trust-store.ts");
  const [real, hash] = await Promise.all([realpath(file), hashOf(file)]);
  await changeTrustStore(storePath, (store) => ({ ...store, files: { ...store.files, [real]: hash } }));
}

/** A change of ours makes a file the person's own where it was before, or where there was none; nobody else's words become so by it. */
export async function writeOwn(storePath: string, file: string, write: () => Promise<void>): Promise<void> {
  const isOwn = !(await exists(file)) || (await isOwnFile(storePath, file));
  await write();
  if (isOwn) await ownFile(storePath, file);
}

async function hashOf(file: string): Promise<string> {
  const { text = "" } = await readOddFile(file);
  return createHash("sha256").update(text).digest("hex");
}
