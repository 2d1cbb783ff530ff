import { readFile } from "node:fs/promises";
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { type KV, Kvm, type KvOptions } from "@nats-io/kv";
import { type ObjectStore, Objm } from "@nats-io/obj";
import { type ConnectionOptions, connect, credsAuthenticator, type NatsConnection, nkeyAuthenticator } from "@nats-io/transport-node";
import { isErrno } from "../../../platform/files.ts";
import { UserError } from "../../../protocol/errors.ts";
import { type BusAddress, SECRET_IN_ADDRESS } from "../address.ts";

export type BusClient = AsyncDisposable & {
  address: string;
  connection: NatsConnection;
  stream: JetStreamClient;
  manager: JetStreamManager;
  bucket(name: string, options: Partial<KvOptions>): Promise<KV>;
  /** One that is there; it is not made. */
  existing(name: string): Promise<KV>;
  objects(name: string, isNew?: boolean): Promise<ObjectStore>;
};

const OLDEST = [2, 9] as const;
const CONNECT_MS = 5_000;
const RECONNECT_WAIT_MS = 500;
/** So long a call is tried again while the server can't be reached. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 250;
const WRONG_LAST_SEQUENCE = [10071, 10164];

/** Throws a UserError that says what is wrong with the server and how it is mended. Reconnects by itself afterwards. */
export async function connectBus(address: BusAddress): Promise<BusClient> {
  const shown = shownAddress(address.url);
  if (shown !== address.url) throw new UserError(SECRET_IN_ADDRESS);
  const credentials = address.credentials === undefined ? undefined : await secretFile(address.credentials, "credentials");
  const options: ConnectionOptions = {
    servers: address.url,
    timeout: CONNECT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    ...(credentials
      ? { authenticator: isCreds(credentials) ? credsAuthenticator(credentials) : nkeyAuthenticator(seedIn(credentials)) }
      : {}),
    ...(address.tls ? { tls: await tlsOptions(address.tls) } : {}),
  };
  const connection = await connect(options).catch((error: unknown) => {
    throw new UserError(whyNot(error, shown), { cause: error });
  });
  try {
    const version = connection.info?.version ?? "0";
    if (isOlder(version)) {
      throw new UserError(`The NATS server at ${shown} is version ${version}; a team needs ${OLDEST.join(".")} or newer.`);
    }
    const manager = await jetstreamManager(connection).catch((error: unknown) => {
      if (!(error instanceof Error && error.name === "JetStreamNotEnabled")) throw error;
      throw new UserError(
        `The NATS server at ${shown} has no JetStream. Start it with "-js", or with the configuration of "roocode bus init".`,
        {
          cause: error,
        },
      );
    });
    const stream = jetstream(connection);
    const buckets = new Kvm(stream);
    return {
      address: shown,
      connection,
      stream,
      manager,
      bucket: (name, wanted) => buckets.create(name, wanted),
      existing: (name) => buckets.open(name),
      async objects(name, isNew = false) {
        const stores = new Objm(stream);
        return isNew ? stores.create(name) : stores.open(name);
      },
      async [Symbol.asyncDispose]() {
        // A drain would wait for a server that may be gone.
        await connection.close();
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/**
 * Runs a call again while the link or the server is down. The call must come to the same end when it is made twice. Throws a
 * UserError when that takes too long, and at once whatever the server says itself.
 */
export async function persistently<Value>(client: Pick<BusClient, "address">, call: () => Promise<Value>): Promise<Value> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (Date.now() >= until) {
        throw new UserError(
          `The bus at ${client.address} has not answered for ${PATIENCE_MS / 1000} s. Look whether the server runs and can be reached; "roocode bus doctor" tests it.`,
          { cause: error },
        );
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** The server refused a write because somebody else wrote first. */
export function isConflict(error: unknown): boolean {
  return error instanceof Error && "code" in error && WRONG_LAST_SEQUENCE.includes(Number(error.code));
}

function isTransient(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if (["TimeoutError", "NoRespondersError", "ConnectionError"].includes(at.name)) return true;
  return false;
}

function whyNot(error: unknown, shown: string): string {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name === "AuthorizationError")
    return `The NATS server at ${shown} refused these credentials. Name the credentials file of this team's user.`;
  return `There is no NATS server to be reached at ${shown}: ${text}. Look at the address, whether the server runs, and whether a firewall is between.`;
}

/** Without what may stand before the host: it could be a password. */
function shownAddress(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//");
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

async function tlsOptions({ ca, certificate, key }: NonNullable<BusAddress["tls"]>) {
  for (const [file, what] of [
    [ca, "CA certificate"],
    [certificate, "certificate"],
    [key, "key"],
  ] as const)
    if (file !== undefined) await secretFile(file, what);
  return {
    ...(ca === undefined ? {} : { caFile: ca }),
    ...(certificate === undefined ? {} : { certFile: certificate }),
    ...(key === undefined ? {} : { keyFile: key }),
  };
}

function isCreds(file: Uint8Array): boolean {
  return Buffer.from(file).includes("BEGIN NATS USER JWT");
}

function seedIn(file: Uint8Array): Uint8Array {
  const seed = /^SU[A-Z2-7]{56}$/m.exec(Buffer.from(file).toString())?.[0];
  if (seed === undefined) throw new UserError("The bus's credentials file holds neither an nkey seed (SU…) nor a .creds text.");
  return Buffer.from(seed);
}

async function secretFile(path: string, what: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    const why = isErrno(error, "ENOENT") ? "is not there" : "can't be read";
    throw new UserError(`The bus's ${what} file ${path} ${why}.`, { cause: error });
  }
}
