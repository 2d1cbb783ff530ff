import * as z from "zod";
import { readTextOrUndefined, writeAtomic } from "../../platform/files.ts";
import { withLock } from "../../platform/lock.ts";
import type { CredentialStore, Credentials } from "./oauth.ts";

const CredentialsSchema = z.looseObject({
  port: z.int().optional(),
  lastIssuer: z.string().optional(),
  clients: z.record(z.string(), z.looseObject({ client_id: z.string() })),
  tokens: z.record(z.string(), z.looseObject({ access_token: z.string(), token_type: z.string() })),
});
const FileSchema = z.object({ version: z.literal(1), servers: z.record(z.string(), z.unknown()) });

const NONE: Credentials = { clients: {}, tokens: {} };

/** In a file that only the person can read; by the server's address. */
export function fileCredentials(path: string, url: string): CredentialStore {
  return {
    read: async () => (await readAll(path))[url] ?? NONE,
    change: (change) =>
      withLock(path, async () => {
        const all = await readAll(path);
        const servers = { ...all, [url]: change(all[url] ?? NONE) };
        await writeAtomic(path, `${JSON.stringify({ version: 1, servers }, undefined, 2)}\n`);
      }),
  };
}

/** For a server that is no part of the settings. */
export function memoryCredentials(): CredentialStore {
  let credentials = NONE;
  return {
    read: async () => credentials,
    async change(change) {
      credentials = change(credentials);
    },
  };
}

/** What can't be read lets nobody in; the person signs in again. */
async function readAll(path: string): Promise<Record<string, Credentials>> {
  const text = await readTextOrUndefined(path);
  if (text === undefined) return {};
  try {
    const { servers } = FileSchema.parse(JSON.parse(text));
    return Object.fromEntries(
      Object.entries(servers).flatMap(([url, entry]) => {
        const parsed = CredentialsSchema.safeParse(entry);
        // The SDK checks what it is given; here only what is looked at has to be right.
        return parsed.success ? [[url, parsed.data as Credentials] as const] : [];
      }),
    );
  } catch {
    return {};
  }
}
