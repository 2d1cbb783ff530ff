import { isRecord } from "../../protocol/record.ts";

type Answer = string | number | boolean | string[];

/** Values that a form would take: its defaults, and for what is required without one the first that fits. */
export function sampleAnswer(requestedSchema: unknown): Record<string, Answer> {
  const properties = isRecord(requestedSchema) && isRecord(requestedSchema.properties) ? requestedSchema.properties : {};
  const required: unknown = isRecord(requestedSchema) ? requestedSchema.required : undefined;
  const needed = Array.isArray(required) ? required : [];
  const content: Record<string, Answer> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (!isRecord(property)) continue;
    if (isAnswer(property.default)) content[name] = property.default;
    else if (needed.includes(name)) content[name] = firstThatFits(property);
  }
  return content;
}

function isAnswer(value: unknown): value is Answer {
  return ["string", "number", "boolean"].includes(typeof value) || (Array.isArray(value) && value.every((one) => typeof one === "string"));
}

function firstThatFits({ type, enum: values, oneOf, minimum }: Record<string, unknown>): Answer {
  if (Array.isArray(values) && isAnswer(values[0])) return values[0];
  const first: unknown = Array.isArray(oneOf) ? oneOf[0] : undefined;
  if (isRecord(first) && isAnswer(first.const)) return first.const;
  switch (type) {
    case "boolean":
      return true;
    case "number":
    case "integer":
      return typeof minimum === "number" ? minimum : 0;
    case "array":
      return [];
    default:
      return "";
  }
}
