import { createHash } from "node:crypto";

const MAX_NAME = 64;
const MAX_SERVER = 28;

/**
 * The part of a tool's name that says the server, for each of these: legal, short, unique among them. It never holds two underscores
 * in a row nor ends in one, so that a rule for `mcp__a` means the server "a" and no other.
 */
export function serverParts(servers: readonly string[]): Map<string, string> {
  return unique(servers, (name) => legal(name).replaceAll(/_{2,}/g, "_").replaceAll(/^_|_$/g, "") || "server", MAX_SERVER);
}

/** `mcp__server__tool` for each tool of a server: legal, at most 64 characters, unique. The same list gives the same names. */
export function toolNames(serverPart: string, tools: readonly string[]): Map<string, string> {
  const prefix = `mcp__${serverPart}__`;
  const names = unique(tools, (name) => legal(name) || "tool", MAX_NAME - prefix.length);
  return new Map([...names].map(([tool, name]) => [tool, `${prefix}${name}`]));
}

function legal(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}

/** A name that had to be changed and meets another, or is too long, ends in a hash of what it was. */
function unique(originals: readonly string[], change: (name: string) => string, max: number): Map<string, string> {
  const wanted = [...new Set(originals)].map((original) => ({ original, name: change(original) }));
  const asked = new Map<string, number>();
  for (const { name } of wanted) asked.set(name, (asked.get(name) ?? 0) + 1);
  return new Map(
    wanted.map(({ original, name }) => {
      const meets = (asked.get(name) ?? 0) > 1 && name !== original;
      return [original, meets || name.length > max ? hashed(name, original, max) : name];
    }),
  );
}

function hashed(name: string, original: string, max: number): string {
  const hash = createHash("sha256").update(original).digest("hex").slice(0, 8);
  return `${name.slice(0, max - hash.length - 1)}_${hash}`.replaceAll(/_{2,}(?=[0-9a-f]{8}$)/g, "_");
}
