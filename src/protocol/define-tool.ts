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

/** One zod schema gives what the model sees and the check of what it sends. A tool is not concurrency-safe unless it says so. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
  const inputSchema = z.toJSONSchema(definition.schema, { target: "draft-7", io: "input" }) as Record<string, unknown>;
  delete inputSchema.$schema;
  const tool: Tool<z.output<Schema>> = {
    name: definition.name,
    description: definition.description,
    inputSchema,
    parse(input) {
      const parsed = definition.schema.safeParse(input);
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
