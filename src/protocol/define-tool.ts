import * as z from "zod";
import { ToolInputError } from "./errors.ts";
import type { Access, Tool, ToolContext, ToolResult } from "./tool.ts";

type ToolDefinition<Schema extends z.ZodType> = {
  name: string;
  description: string;
  schema: Schema;
  access(input: z.output<Schema>): Access;
  isConcurrencySafe?: (input: z.output<Schema>) => boolean;
  run(input: z.output<Schema>, context: ToolContext): Promise<ToolResult>;
};

/** `inputSchema` is what `schema` gives, written out: a test compares them. Building either costs a start what few runs use. */
type WrittenToolDefinition<Schema extends z.ZodType> = Omit<ToolDefinition<Schema>, "schema"> & {
  inputSchema: Record<string, unknown>;
  schema: () => Schema;
};

/** One zod schema gives what the model sees and the check of what it sends. A tool is not concurrency-safe unless it says so. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
  const { schema, ...rest } = definition;
  return defineWrittenTool({ ...rest, inputSchema: jsonSchemaOf(schema), schema: () => schema });
}

/** What the model sees of a schema. */
export function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  // Its type is wider than what a schema of an object gives.
  const inputSchema = z.toJSONSchema(schema, { target: "draft-7", io: "input" }) as Record<string, unknown>;
  delete inputSchema.$schema;
  return inputSchema;
}

/** The same with the model's schema written out; zod's is built when the first call comes. */
export function defineWrittenTool<Schema extends z.ZodType>(definition: WrittenToolDefinition<Schema>): Tool {
  let schema: Schema | undefined;
  const tool: Tool<z.output<Schema>> = {
    name: definition.name,
    description: definition.description,
    inputSchema: definition.inputSchema,
    parse(input) {
      schema ??= definition.schema();
      const parsed = schema.safeParse(input);
      if (parsed.success) return parsed.data;
      throw new ToolInputError(`${definition.name}: ${describeIssues(parsed.error)}`);
    },
    access: definition.access,
    isConcurrencySafe: definition.isConcurrencySafe ?? (() => false),
    run: definition.run,
  };
  // A registry holds tools of many input types; `parse` is the only source of the value that the other functions get.
  return tool as Tool;
}

function describeIssues(error: z.ZodError): string {
  return error.issues.map((issue) => (issue.path.length > 0 ? `${issue.path.join(".")}: ${issue.message}` : issue.message)).join("; ");
}
