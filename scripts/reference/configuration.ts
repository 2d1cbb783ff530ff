import { writeFile } from "node:fs/promises";
import * as z from "zod";
import { DEFAULTS } from "../../src/runtime/config-report.ts";
import { SettingsSchema } from "../../src/runtime/settings-schema.ts";
import { HookEntrySchema } from "../../src/tools/hooks/schema.ts";
import { HttpSchema, StdioSchema } from "../../src/tools/mcp/schema.ts";
import { DESCRIPTIONS, OTHER_DEFAULTS } from "./descriptions.ts";

type Schema = z.core.JSONSchema.BaseSchema;
type Key = { key: string; type: string; fallback?: unknown };

const FILE = new URL("../../docs/configuration-reference.md", import.meta.url);
const SECTIONS: readonly (readonly [title: string, prefix: string])[] = [
  ["Tools", "tools."],
  ["OS sandbox", "sandbox."],
  ["Teams", "team."],
  ["Providers", "providers[]."],
  ["MCP servers", "mcpServers.NAME."],
  ["Hooks", "hooks[]."],
];

/** Every key that a settings file may have, in the order of the schemas. */
export function settingKeys(): Key[] {
  const { hooks: _, mcpServers: __, ...settings } = z.toJSONSchema(SettingsSchema).properties ?? {};
  const servers = [StdioSchema, HttpSchema].map((schema) => z.toJSONSchema(schema, { io: "input" }));
  return oneEach([
    ...Object.entries(settings).flatMap(([key, schema]) => keysOf(key, schema)),
    ...servers.flatMap((schema) => keysOf("mcpServers.NAME", schema)),
    ...keysOf("hooks[]", z.toJSONSchema(HookEntrySchema, { io: "input" })),
  ]);
}

/** The page of the documentation. A key without a description is an error. */
export function configurationReference(): string {
  const keys = settingKeys();
  const inSection = SECTIONS.map(([title, prefix]) => [title, keys.filter(({ key }) => key.startsWith(prefix))] as const);
  const top = keys.filter(({ key }) => !SECTIONS.some(([, prefix]) => key.startsWith(prefix)));
  return `${[
    "# Settings, key by key",
    "<!-- Made by `npx tsx scripts/reference/configuration.ts`; a test compares it. Texts: scripts/reference/descriptions.ts -->",
    "Every key of `config.yaml` and `config.local.yaml`. Where the files stand and which one counts: [configuration](configuration.md). `[]` is an\nentry of a list, `NAME` a name of your own. Some entries have keys that they can't\ndo without: these are called needed.",
    table(top),
    ...inSection.flatMap(([title, own]) => [`## ${title}`, table(own)]),
  ].join("\n\n")}\n`;
}

function keysOf(key: string, schema: unknown, isNeeded = false): Key[] {
  if (!isSchema(schema)) return [];
  const { properties = {}, required = [], items } = schema;
  const alternatives = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  const fields = Object.entries(properties).flatMap(([name, field]) => keysOf(`${key}.${name}`, field, required.includes(name)));
  if (fields.length > 0) return fields;
  if (isSchema(items) && items.type === "object") return keysOf(`${key}[]`, items);
  if (alternatives.some((one) => isSchema(one) && one.type === "object")) return alternatives.flatMap((one) => keysOf(key, one));
  const fallback = schema.default ?? OTHER_DEFAULTS[key] ?? DEFAULTS.find(([name]) => name === key)?.[1];
  const type = `${typeOf(schema)}${isNeeded ? ", needed" : ""}`;
  return [{ key, type, ...(fallback === undefined ? {} : { fallback }) }];
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.enum) return schema.enum.map((one) => `\`${String(one)}\``).join(", ");
  if (schema.anyOf) return schema.anyOf.map((one) => (isSchema(one) ? typeOf(one) : "")).join("; or ");
  switch (schema.type) {
    case "array":
      return isSchema(schema.items) ? `list of ${typeOf(schema.items)}` : "list";
    case "integer":
    case "number":
      return `${schema.type === "integer" ? "whole number" : "number"}${boundsOf(schema)}`;
    case "boolean":
      return "`true`, `false`";
    case "object":
      return "map";
    default:
      return schema.format === "uri" ? "URL" : "text";
  }
}

function boundsOf({ minimum, maximum, exclusiveMinimum }: Schema): string {
  const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}${isBounded ? `, at most ${maximum}` : ""}`;
  if (minimum === undefined) return "";
  return isBounded ? `, ${minimum} to ${maximum}` : `, at least ${minimum}`;
}

/** Two kinds of a server, or of an action, have keys in common; the types of those that differ stand together. */
function oneEach(keys: readonly Key[]): Key[] {
  const found = new Map<string, Key>();
  for (const one of keys) {
    const known = found.get(one.key);
    if (!known) found.set(one.key, one);
    else if (!known.type.includes(one.type.replace(", needed", "")))
      found.set(one.key, { ...known, type: `${known.type}, ${one.type}`.replaceAll(", needed", "") });
  }
  return [...found.values()];
}

/** Padded as the formatter does it. */
function table(keys: readonly Key[]): string {
  const rows = keys.map(({ key, type, fallback }) => {
    const description = DESCRIPTIONS[key];
    if (description === undefined) throw new Error(`The setting "${key}" has no description in scripts/reference/descriptions.ts.`);
    return [`\`${key}\``, type, shown(fallback), description];
  });
  const head = ["key", "type", "default", "what it is"];
  const widths = head.map((title, column) => Math.max(...[title, ...rows.map((row) => row[column] ?? "")].map(({ length }) => length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

function shown(fallback: unknown): string {
  if (fallback === undefined) return "";
  if (typeof fallback === "string" && fallback.includes("`")) return fallback;
  if (typeof fallback === "object" && fallback !== null && Object.keys(fallback).length === 0) return "none";
  return `\`${String(fallback)}\``;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null;
}

if (process.argv[1] === decodeURIComponent(new URL(import.meta.url).pathname)) await writeFile(FILE, configurationReference());
