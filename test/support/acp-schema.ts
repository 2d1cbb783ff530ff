import { readFileSync } from "node:fs";
import * as z from "zod";
import { isRecord } from "../../src/protocol/record.ts";

const FILE = new URL(import.meta.resolve("@agentclientprotocol/sdk/schema/v1/schema.json"));
const Definitions = z.object({ $schema: z.string(), $defs: z.record(z.string(), z.looseObject({ "x-method": z.string().optional() })) });
// What "not" guards is the open end of a union, for messages to come: ours are of today.
const ofToday = (_key: string, value: unknown) => (Array.isArray(value) ? value.filter((one) => !(isRecord(one) && "not" in one)) : value);
const schema = Definitions.parse(JSON.parse(readFileSync(FILE, "utf8"), ofToday));
const made = new Map<string, z.ZodType>();

/** Throws where the value is not what the protocol's own schema says of this definition. */
export function requireShape(definition: string, value: unknown): void {
  const found = made.get(definition) ?? build(definition);
  made.set(definition, found);
  const parsed = found.safeParse(value);
  if (!parsed.success) throw new Error(`No valid ${definition}: ${JSON.stringify(value)}\n${z.prettifyError(parsed.error)}`);
}

/** Name of what is sent with a method: its request or notification, or the response to it. */
export function definitionOf(method: string, part: "params" | "result"): string {
  const names = Object.keys(schema.$defs).filter((name) => schema.$defs[name]?.["x-method"] === method);
  const found = names.find((name) => name.endsWith("Response") === (part === "result"));
  if (found === undefined) throw new Error(`The protocol has no ${part} of "${method}".`);
  return found;
}

function build(name: string): z.ZodType {
  if (!schema.$defs[name]) throw new Error(`The protocol has no ${name}.`);
  return z.fromJSONSchema({ ...schema, $ref: `#/$defs/${name}` } as z.core.JSONSchema.JSONSchema);
}
