import { lookup } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { isPrivateAddress, isPrivateName } from "../../platform/private-address.ts";
import { readWebAddress, type WebAddress } from "../../platform/web-address.ts";

export type Page = { url: string; status: number; contentType: string; body: Buffer; isCut: boolean };

const MAX_BYTES = 5_000_000;
const MAX_REDIRECTS = 5;

export type Reach = {
  /** Whether a rule names the host of this address, so that it may be this machine or a private network. */
  mayBePrivate: (url: string) => Promise<boolean>;
  /** The system's name service, where a test does not hold it still. */
  lookUp?: LookUp | undefined;
};
type LookUp = (host: string, options: { all: true; family?: 4 | 6 }) => Promise<{ address: string; family: number }[]>;

/** Follows redirects of the same host; the first to another one is the answer. Throws with the reason in words. */
export async function getPage(
  given: string,
  { mayBePrivate, lookUp = lookup }: Reach,
  signal: AbortSignal,
): Promise<Page | { redirect: string }> {
  let address = wholeAddress(given);
  for (let step = 0; step <= MAX_REDIRECTS; step++) {
    const response = await get(address, await mayBePrivate(address.url.href), lookUp, signal);
    const { statusCode: status = 0, headers } = response;
    if (status < 300 || status >= 400 || headers.location === undefined) return readBody(response, address.url.href);
    response.destroy();
    const target = URL.canParse(headers.location, address.url.href) ? new URL(headers.location, address.url).href : headers.location;
    const next = wholeAddress(target);
    if (!isSameHost(address, next)) return { redirect: next.url.href };
    address = next;
  }
  throw new Error(`more than ${MAX_REDIRECTS} redirects`);
}

function wholeAddress(text: string): WebAddress {
  const address = readWebAddress(text);
  if (typeof address === "string") throw new Error(address);
  return address;
}

/** The same name and port, or from http to https on their usual ports; never back to http. */
function isSameHost(from: WebAddress, to: WebAddress): boolean {
  if (from.host !== to.host) return false;
  if (from.url.protocol === to.url.protocol) return from.port === to.port;
  return from.url.protocol === "http:" && from.port === "80" && to.port === "443";
}

function get({ url, host }: WebAddress, isNamed: boolean, lookUp: LookUp, signal: AbortSignal): Promise<IncomingMessage> {
  if (!isNamed && (isPrivateAddress(host) || isPrivateName(host))) throw new Error(refusal(host));
  const options: RequestOptions = {
    signal,
    agent: false,
    headers: {
      "user-agent": "roocode",
      accept: "text/html, text/markdown, text/plain, application/json;q=0.9, */*;q=0.5",
      "accept-encoding": "gzip, deflate, br",
    },
    ...(isIP(host) ? {} : { lookup: checkedLookup(isNamed, lookUp) }),
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, options, resolve);
    request.on("error", (error) => reject(new Error(`${host} can't be reached (${error.message || error.name})`, { cause: error })));
    request.end();
  });
}

/** The addresses that were looked at are the ones that are connected to: a name can't lead elsewhere in between. */
function checkedLookup(isNamed: boolean, lookUp: LookUp): LookupFunction {
  return (host, options, done) => {
    const settle = async () => {
      const found = await lookUp(host, { all: true, ...(options.family === 4 || options.family === 6 ? { family: options.family } : {}) });
      if (!isNamed && found.some(({ address }) => isPrivateAddress(address))) throw new Error(refusal(host));
      return found;
    };
    settle().then(
      (found) => (options.all ? done(null, found) : done(null, found[0]?.address ?? "", found[0]?.family ?? 4)),
      (error: Error) => done(error, ""),
    );
  };
}

function refusal(host: string): string {
  return `"${host}" is this machine or a private network, and no rule WebFetch(domain:${host}) allows it`;
}

async function readBody(response: IncomingMessage, url: string): Promise<Page> {
  const chunks: Buffer[] = [];
  let size = 0;
  const body = unpacked(response);
  for await (const chunk of body) {
    const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (size > MAX_BYTES) break;
  }
  response.destroy();
  return {
    url,
    status: response.statusCode ?? 0,
    contentType: response.headers["content-type"] ?? "",
    body: Buffer.concat(chunks).subarray(0, MAX_BYTES),
    isCut: size > MAX_BYTES,
  };
}

/** The cap counts what comes out: a small packed answer may hold gigabytes. */
function unpacked(response: IncomingMessage): Readable {
  const unpack = unpacker(response.headers["content-encoding"]);
  if (!unpack) return response;
  response.on("error", (error) => unpack.destroy(error));
  return response.pipe(unpack);
}

function unpacker(encoding: string | undefined) {
  switch (encoding?.toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return undefined;
  }
}
