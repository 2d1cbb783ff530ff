import type { Client } from "@modelcontextprotocol/client";
import * as z from "zod";

const MAX_PAGES = 64;

const PageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const ToolSchema = z.object({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  // No object schema: that would bring its keys into another order.
  inputSchema: z.record(z.string(), z.unknown()).refine((schema) => schema.type === "object", { path: ["type"], error: "must be object" }),
});
export type RemoteTool = z.output<typeof ToolSchema>;
export type ListedTools = { tools: RemoteTool[]; problems: string[] };

/** All pages. Each tool is checked by itself, where the SDK's own listing throws all away for one that is wrong. */
export async function listTools(client: Client, options: { signal: AbortSignal; timeout: number }): Promise<ListedTools> {
  const found: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const request = { method: "tools/list", ...(cursor === undefined ? {} : { params: { cursor } }) };
    const { tools, nextCursor } = await client.request(request, PageSchema, options);
    found.push(...tools);
    if (nextCursor === undefined || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  const listed: ListedTools = { tools: [], problems: [] };
  for (const [index, each] of found.entries()) {
    const parsed = ToolSchema.safeParse(each);
    if (parsed.success) listed.tools.push(parsed.data);
    else
      listed.problems.push(
        `tool ${index + 1} of ${found.length}${nameOf(each)} is left out: ${z.prettifyError(parsed.error).split("\n").join(" ")}`,
      );
  }
  return listed;
}

function nameOf(tool: unknown): string {
  return typeof tool === "object" && tool !== null && "name" in tool ? `, ${JSON.stringify(tool.name)?.slice(0, 80)},` : "";
}
