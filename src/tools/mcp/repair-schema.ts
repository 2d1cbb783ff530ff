import { isRecord } from "../../protocol/record.ts";

type Schema = Record<string, unknown>;
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const COMBINATORS = ["anyOf", "oneOf", "allOf"] as const;

/**
 * A tool's input schema as every model API takes it, or why none can be made of it. One that is legal already comes back as it is, key
 * for key: a `$ref` points into its own `$defs`.
 */
export function repairSchema(given: unknown): { schema: Schema } | { fault: string } {
  if (given === undefined || given === null) return { schema: { type: "object", properties: {} } };
  if (!isRecord(given)) return { fault: "its inputSchema is no object" };
  const schema = isObjectType(given.type) ? given : resolved(given);
  if (!isObjectType(schema.type) && schema.type !== undefined)
    return { fault: `its inputSchema is of type ${JSON.stringify(schema.type)}` };
  if (schema.type === undefined && !looksLikeObject(schema)) return { fault: "its inputSchema describes no object" };
  const odd = Object.keys(isRecord(schema.properties) ? schema.properties : {}).find((name) => !PROPERTY_NAME.test(name));
  if (odd !== undefined) return { fault: `models take no parameter that is called ${JSON.stringify(odd.slice(0, 80))}` };
  return { schema: isLegal(schema) ? schema : mended(schema) };
}

function isObjectType(type: unknown): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object"));
}

function looksLikeObject(schema: Schema): boolean {
  return Object.keys(schema).length === 0 || "properties" in schema || COMBINATORS.some((key) => Array.isArray(schema[key]));
}

/** What a `$ref` at the top stands for, beside the definitions. */
function resolved(schema: Schema): Schema {
  if (typeof schema.$ref !== "string") return schema;
  const path = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(schema.$ref);
  const definitions = path?.[1] === undefined ? undefined : schema[path[1]];
  const target = isRecord(definitions) && path?.[2] !== undefined ? definitions[path[2]] : undefined;
  if (!isRecord(target)) return schema;
  const { $ref: _, ...rest } = schema;
  return { ...target, ...rest };
}

function isLegal(schema: Schema): boolean {
  return (
    schema.type === "object" &&
    (schema.properties === undefined || isRecord(schema.properties)) &&
    (schema.required === undefined || isTexts(schema.required)) &&
    COMBINATORS.every((key) => !(key in schema))
  );
}

/** APIs refuse alternatives at the top: their properties stand beside each other, and what is needed in some only is optional. */
function mended(schema: Schema): Schema {
  const { anyOf, oneOf, allOf, properties, required, ...rest } = schema;
  const branches = [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list.filter(isRecord) : []));
  const all = Object.assign({}, ...branches.map((branch) => (isRecord(branch.properties) ? branch.properties : {})));
  const needed = isTexts(required) ? required : [];
  return {
    ...rest,
    type: "object",
    properties: { ...all, ...(isRecord(properties) ? properties : {}) },
    ...(needed.length > 0 ? { required: needed } : {}),
  };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
