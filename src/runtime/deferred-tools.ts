import * as z from "zod";
import type { ResolvedCall } from "../engine/run-tool.ts";
import { defineTool } from "../protocol/define-tool.ts";
import type { ToolUseBlock } from "../protocol/message.ts";
import { isRecord } from "../protocol/record.ts";
import { errorResult, type Tool, textResult } from "../protocol/tool.ts";
import { type DeferredTools, discovered, toolSearchTool } from "../tools/builtin/tool-search.ts";
import type { AgentTools } from "./agent-tools.ts";

/** How one agent comes to the tools that are not in its first request. */
export type ToolLoading = {
  /** Of the first request. */
  tools: readonly Tool[];
  /** For calls of what was announced by its name only, or that stand for others. */
  resolve(call: ToolUseBlock, signal: AbortSignal): Promise<ResolvedCall | undefined>;
};

/**
 * A tool joins the array once it was found, or called by its name. `isNative`: where the provider can, it is read where it was found
 * and not at the head of the request.
 */
export function appendedTools(deferred: DeferredTools, addTools: AgentTools["add"], isNative: boolean): ToolLoading {
  const search = toolSearchTool(deferred, (tools) => {
    const found = addTools(tools, isNative);
    return { ...discovered(tools), ...(isNative ? { found } : {}) };
  });
  return {
    tools: [search],
    async resolve({ name, input }, signal) {
      const found = await findTool(name, deferred, signal);
      if (found && "tool" in found) addTools([found.tool]);
      return found && "tool" in found ? { tool: found.tool, input } : found;
    },
  };
}

const UseSchema = z.object({
  name: z.string().min(1).describe("Name of a tool that ToolSearch has shown."),
  args: z.record(z.string(), z.unknown()).describe("Its input, as its schema says."),
});

/** The array never changes: what was found is called through one tool, its schema stands in the result of the search. */
export function proxiedTools(deferred: DeferredTools): ToolLoading {
  const search = toolSearchTool(deferred, (tools) =>
    textResult(
      `Found; call them with UseTool:\n${tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, args: inputSchema })).join("\n")}`,
    ),
  );
  const use = defineTool({
    name: "UseTool",
    description:
      'Calls a tool that ToolSearch has found: {"name": "mcp__github__create_issue", "args": {…}}, with args as the schema says that the search has shown. Gives that tool\'s result; permissions are asked for under its own name.',
    schema: UseSchema,
    access: ({ name }) => ({ kind: "other", subject: name }),
    run: async ({ name }) => errorResult(`There is no tool "${name}". Find tools with ToolSearch.`),
  });
  return {
    tools: [search, use],
    async resolve({ name, input }, signal) {
      if (name !== "UseTool") {
        const isOthers = (await findTool(name, deferred, signal)) !== undefined;
        return isOthers ? { refusal: `Call ${name} with UseTool: {"name": "${name}", "args": {…}}.` } : undefined;
      }
      if (typeof input.name !== "string") return undefined;
      const found = await findTool(input.name, deferred, signal);
      return found && "tool" in found ? { tool: found.tool, input: isRecord(input.args) ? input.args : {} } : found;
    },
  };
}

async function findTool(
  name: string,
  deferred: DeferredTools,
  signal: AbortSignal,
): Promise<{ tool: Tool } | { refusal: string } | undefined> {
  const find = () => deferred.all().find((tool) => tool.name === name);
  if (!find() && name.startsWith("mcp__")) await deferred.settled(name, signal);
  const tool = find();
  if (tool) return { tool };
  const refusal = deferred.missing(name);
  return refusal === undefined ? undefined : { refusal };
}
