import * as z from "zod";
import { readTextOrUndefined, writeAtomic } from "../platform/files.ts";
import { withLock } from "../platform/lock.ts";

const Trusted = z.object({ hash: z.string(), at: z.string(), items: z.array(z.string()).optional() });
const ApprovedTool = z.object({ hash: z.string(), description: z.string(), schema: z.string(), at: z.string() });
const File = z.object({
  version: z.literal(1),
  folders: z.record(z.string(), z.unknown()),
  tools: z.record(z.string(), z.unknown()).optional(),
  files: z.record(z.string(), z.unknown()).optional(),
});

export type ApprovedTool = z.output<typeof ApprovedTool>;
/**
 * What the person has accepted: folders by real path with what they brought, tools of servers as they were then, and files that are
 * the person's own as they were then (path to SHA-256).
 */
export type TrustStore = {
  folders: Record<string, z.output<typeof Trusted>>;
  tools: Record<string, ApprovedTool>;
  files: Record<string, string>;
};
const NOTHING: TrustStore = { folders: {}, tools: {}, files: {} };

/** A store that can't be read trusts nothing; an entry that can't be read spoils no other. */
export async function readTrustStore(path: string): Promise<TrustStore> {
  const text = await readTextOrUndefined(path);
  if (text === undefined) return NOTHING;
  try {
    const { folders, tools = {}, files = {} } = File.parse(JSON.parse(text));
    return { folders: readable(folders, Trusted), tools: readable(tools, ApprovedTool), files: readable(files, z.string()) };
  } catch {
    return NOTHING;
  }
}

export async function changeTrustStore(path: string, change: (store: TrustStore) => TrustStore): Promise<void> {
  await withLock(path, async () => {
    const store = change(await readTrustStore(path));
    await writeAtomic(path, `${JSON.stringify({ version: 1, ...store }, undefined, 2)}\n`);
  });
}

function readable<Entry>(entries: Record<string, unknown>, schema: z.ZodType<Entry>): Record<string, Entry> {
  return Object.fromEntries(
    Object.entries(entries).flatMap(([name, entry]) => {
      const { data } = schema.safeParse(entry);
      return data ? [[name, data] as const] : [];
    }),
  );
}
