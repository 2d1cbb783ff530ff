import { isRecord } from "../protocol/record.ts";
import { plainText } from "../tools/bash/plain-text.ts";
import type { ServerQuestion } from "../tools/mcp/connection.ts";

type Answer = Awaited<ReturnType<ServerQuestion>>;
type Field = { name: string; label: string; schema: Record<string, unknown>; isRequired: boolean };
export type Asking = {
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
  choose(question: string, options: readonly string[], signal: AbortSignal): Promise<string | undefined>;
};

/** Puts a server's form to the person, one field after another. It is said whose question it is; an answer may always be refused. */
export function formQuestions({ ask, choose }: Asking): ServerQuestion {
  return async (server, { message, requestedSchema }, signal) => {
    const words = plainText(message).trim();
    const consent = await choose(`The MCP server "${plainText(server)}" asks: ${words}`, ["answer", "decline"], signal);
    if (consent === undefined) return { action: "cancel" };
    if (consent !== "answer" && consent !== "1") return { action: "decline" };
    const content: NonNullable<Answer["content"]> = {};
    for (const field of fieldsOf(requestedSchema)) {
      const value = await askField(field, ask, signal);
      if (value === "cancelled") return { action: "cancel" };
      if (value) content[field.name] = value.value;
    }
    return { action: "accept", content };
  };
}

function fieldsOf(schema: unknown): Field[] {
  const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
  const required: unknown = isRecord(schema) ? schema.required : undefined;
  return Object.entries(properties).flatMap(([name, property]) =>
    isRecord(property)
      ? [{ name, label: labelOf(name, property), schema: property, isRequired: Array.isArray(required) && required.includes(name) }]
      : [],
  );
}

function labelOf(name: string, { title, description }: Record<string, unknown>): string {
  const words = typeof title === "string" ? title : name;
  return plainText(typeof description === "string" ? `${words} (${description})` : words);
}

/** Asked again until it fits; an empty line is the default, or leaves out what may be left out. */
async function askField(
  { label, schema, isRequired }: Field,
  ask: Asking["ask"],
  signal: AbortSignal,
): Promise<{ value: string | number | boolean | string[] } | undefined | "cancelled"> {
  const values = valuesOf(schema);
  const choices = values.length > 0 ? ` [${values.join(", ")}]` : schema.type === "boolean" ? " [yes, no]" : "";
  const otherwise = schema.default === undefined ? "" : ` (${String(schema.default)} unless given)`;
  for (let hint = ""; ; ) {
    const typed = (await ask(`${hint}${label}${choices}${otherwise}: `, signal))?.trim();
    if (typed === undefined || signal.aborted) return "cancelled";
    if (typed === "" && (!isRequired || schema.default !== undefined)) return undefined;
    const value = readValue(typed, schema, values);
    if (value !== undefined) return { value };
    hint = "That does not fit. ";
  }
}

function valuesOf({ enum: plain, oneOf, items }: Record<string, unknown>): string[] {
  if (Array.isArray(plain)) return plain.filter((one) => typeof one === "string");
  const titled: unknown = oneOf ?? (isRecord(items) ? (items.anyOf ?? items.enum) : undefined);
  if (!Array.isArray(titled)) return [];
  return titled.flatMap((one: unknown) =>
    typeof one === "string" ? [one] : isRecord(one) && typeof one.const === "string" ? [one.const] : [],
  );
}

function readValue(
  typed: string,
  { type }: Record<string, unknown>,
  values: readonly string[],
): string | number | boolean | string[] | undefined {
  switch (type) {
    case "boolean":
      return /^(y|yes|true)$/i.test(typed) ? true : /^(n|no|false)$/i.test(typed) ? false : undefined;
    case "integer":
    case "number": {
      const number = Number(typed);
      return typed !== "" && Number.isFinite(number) && (type === "number" || Number.isInteger(number)) ? number : undefined;
    }
    case "array": {
      const chosen = typed.split(",").map((one) => one.trim());
      return chosen.every((one) => values.length === 0 || values.includes(one)) ? chosen : undefined;
    }
    default:
      return values.length === 0 || values.includes(typed) ? typed : undefined;
  }
}
