import { accessOf } from "../../src/interaction/commands/access-of.ts";
import type { Access } from "../../src/protocol/tool.ts";

/** The access of a call whose input is known to be whole. */
export function accessIn(tool: string, input: Record<string, unknown>): Access {
  const access = accessOf(tool, input);
  if (typeof access === "string") throw new Error(access);
  return access;
}
