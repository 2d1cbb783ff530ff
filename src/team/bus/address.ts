import { resolve } from "node:path";
import * as z from "zod";
import { UserError } from "../../protocol/errors.ts";

/** Of a bus on a server. Secrets are in files alone, which each machine has in a place of its own. */
export const BusAddressSchema = z.object({
  /** nats://host:port or tls://host:port */
  url: z.string(),
  /** A file with the user's nkey seed (a line that begins with SU), or a .creds file (JWT and seed). */
  credentials: z.string().optional(),
  /** PEM files. */
  tls: z.object({ ca: z.string().optional(), certificate: z.string().optional(), key: z.string().optional() }).optional(),
});
export type BusAddress = z.output<typeof BusAddressSchema>;

export type BusOptions = {
  bus?: string | undefined;
  busCredentials?: string | undefined;
  busCa?: string | undefined;
  busCert?: string | undefined;
  busKey?: string | undefined;
};

/** Of a command line; files relative to `cwd`. Throws a UserError for what is no address, and for one that holds a secret. */
export function busAddress(options: BusOptions, cwd: string): BusAddress | undefined {
  const { bus: url, busCredentials, busCa, busCert, busKey } = options;
  if (url === undefined) {
    if ((busCredentials ?? busCa ?? busCert ?? busKey) === undefined) return undefined;
    throw new UserError("The files of a bus are named, but no bus: add --bus nats://HOST:4222");
  }
  const read = URL.canParse(url) ? new URL(url) : undefined;
  if (read === undefined || !["nats:", "tls:"].includes(read.protocol) || read.hostname === "")
    throw new UserError(`"${url.replace(/\/\/[^/@]*@/, "//")}" is no address of a bus. Write it like nats://host:4222 or tls://host:4222.`);
  if (read.username !== "" || read.password !== "") throw new UserError(SECRET_IN_ADDRESS);
  const file = (path: string) => resolve(cwd, path);
  const tls = {
    ...(busCa === undefined ? {} : { ca: file(busCa) }),
    ...(busCert === undefined ? {} : { certificate: file(busCert) }),
    ...(busKey === undefined ? {} : { key: file(busKey) }),
  };
  return {
    url,
    ...(busCredentials === undefined ? {} : { credentials: file(busCredentials) }),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
  };
}

export const SECRET_IN_ADDRESS =
  "No user and password in the bus's address: other users of this machine can read them. Name a file with the nkey seed: --bus-credentials FILE";
