import { isRecord } from "../../protocol/record.ts";

const KEY = "x-mcp-header";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = new Set<unknown>(["string", "integer", "boolean"]);

/**
 * Why a tool of a server over HTTP may not be used: parameters that ask to be sent as headers must be plain properties of simple
 * types, with legal names that differ (protocol revision 2026-07-28). Undefined where nothing is wrong.
 */
export function headerFault(inputSchema: unknown): string | undefined {
  const names = new Set<string>();
  const visit = (node: unknown, isProperty: boolean, isReachable: boolean): string | undefined => {
    if (Array.isArray(node)) return firstOf(node.map((one) => () => visit(one, false, false)));
    if (!isRecord(node)) return undefined;
    if (KEY in node) {
      const name = node[KEY];
      if (!isProperty || !isReachable) return `${KEY} stands where no plain property is`;
      if (typeof name !== "string" || !TOKEN.test(name)) return `${KEY} ${JSON.stringify(name)} is no name of a header`;
      if (!TYPES.has(node.type)) return `${KEY} "${name}" is of a type that can't be a header`;
      if (names.has(name.toLowerCase())) return `${KEY} "${name}" comes twice`;
      names.add(name.toLowerCase());
    }
    return firstOf(
      Object.entries(node).map(([key, child]) => () => {
        if (key !== "properties" || !isRecord(child))
          return isRecord(child) || Array.isArray(child) ? visit(child, false, false) : undefined;
        return firstOf(Object.values(child).map((property) => () => visit(property, true, isReachable)));
      }),
    );
  };
  return visit(inputSchema, false, true);
}

function firstOf(looks: readonly (() => string | undefined)[]): string | undefined {
  for (const look of looks) {
    const fault = look();
    if (fault !== undefined) return fault;
  }
  return undefined;
}
