import { BlockList, isIP } from "node:net";

/** This machine, private and link-local networks (cloud metadata too), and what only stands for another address. */
const V4: readonly [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
];
const V6: readonly [string, number][] = [
  ["::", 96],
  ["::ffff:0:0:0", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
];

/** Whether an IP address is no public one. Anything else is none: a name says nothing until it is looked up. */
export function isPrivateAddress(address: string): boolean {
  const ip = address.replace(/%.*$/, "");
  const family = isIP(ip);
  if (family === 0) return false;
  const list = new BlockList();
  for (const [net, bits] of V4) list.addSubnet(net, bits, "ipv4");
  for (const [net, bits] of V6) list.addSubnet(net, bits, "ipv6");
  return list.check(ip, family === 4 ? "ipv4" : "ipv6");
}

/** Names that mean this machine whatever a name server says, and those that its cloud answers to. */
export function isPrivateName(host: string): boolean {
  return /^(localhost|.*\.localhost|.*\.local|.*\.internal|metadata)$/.test(host);
}
