import { join } from "node:path";
import { packageRoot } from "../../platform/package.ts";
import { type HostRule, readHostRule } from "./allowed-hosts.ts";
import { NetworkFilter } from "./network-filter.ts";

/** Where a command finds the filter: this port of the sandbox's own loopback is nobody else's. */
const PORT = 3128;
const SOCKET = ".roocode-network";
/** What the kernel takes for the path of a Unix socket. */
const MAX_SOCKET_PATH = 100;
const ADDRESS = `http://127.0.0.1:${PORT}`;
/** What a command serves itself, on the sandbox's own loopback. */
const OWN_LOOPBACK = ["localhost", "127.0.0.1", "::1"];
/** The bridge listens before the command begins; the command itself is the process that was started, with its exit code and signals. */
const WITH_BRIDGE =
  'exec {ready}< <(exec "$1" "$2" "$3" "$4" 3>&1 >/dev/null 2>&1 </dev/null); read -r _ <&"$ready"; exec {ready}<&-; exec "${@:5}"';

/** How commands of a sandbox without network reach the named hosts, and no others. */
export type NetworkWay = Disposable & {
  readonly variables: Readonly<Record<string, string>>;
  /** Folders that the bridge is read from. */
  readonly readable: readonly string[];
  /** The command, begun by a shell that starts the bridge first. */
  withBridge(argv: readonly string[]): string[];
  takeRefused(): string[];
  /** No command runs any more. */
  hangUp(): void;
};

/** `temp` stands at /tmp inside. Rejects where no socket can be made in it. */
export async function openNetworkWay(hosts: readonly string[], temp: string): Promise<NetworkWay> {
  const path = join(temp, SOCKET);
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH) throw new Error(`the path of the temporary folder (${temp}) is too long for a socket`);
  const rules = hosts.map(readHostRule).filter((rule): rule is HostRule => rule !== undefined);
  const filter = new NetworkFilter(rules);
  await filter.listen(path);
  const bin = join(packageRoot(), "bin");
  const bridge = [process.execPath, join(bin, "network-bridge.cjs"), join("/tmp", SOCKET), String(PORT)];
  return {
    variables: variables(rules),
    readable: [bin, process.execPath],
    withBridge: (argv) => ["bash", "--noprofile", "--norc", "-c", WITH_BRIDGE, "bash", ...bridge, ...argv],
    takeRefused: () => filter.takeRefused(),
    hangUp: () => filter.hangUp(),
    [Symbol.dispose]: () => filter[Symbol.dispose](),
  };
}

/** A name of this machine that is among the hosts means the machine's, so it goes through the filter. */
function variables(rules: readonly HostRule[]): Record<string, string> {
  const straight = OWN_LOOPBACK.filter((name) => !rules.some(({ host }) => host === name)).join(",");
  return {
    ...Object.fromEntries(["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"].map((name) => [name, ADDRESS])),
    ...Object.fromEntries(["no_proxy", "NO_PROXY"].map((name) => [name, straight])),
    NODE_USE_ENV_PROXY: "1",
  };
}
