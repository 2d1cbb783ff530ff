import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import { errorResult, type Tool, type ToolResult, textResult } from "../../protocol/tool.ts";
import { bestTools, oneLine } from "../tool-index.ts";

const DEFAULT_RESULTS = 8;
const MAX_RESULTS = 50;

const schema = z.object({
  query: z.string().min(1).describe('Words to look for, or "select:name,name" for tools whose names you know.'),
  max_results: z.int().min(1).max(MAX_RESULTS).optional().describe(`At most so many; ${DEFAULT_RESULTS} unless given.`),
});

/** Tools that are not sent before they are found. */
export type DeferredTools = {
  /** Those that are there now, in a stable order. */
  all(): readonly Tool[];
  /** Servers that have not answered yet. */
  starting(): readonly string[];
  /** Resolves once they have, or `tool` is there, or nobody should wait any longer. */
  settled(tool: string | undefined, signal: AbortSignal): Promise<void>;
  /** What came of a tool's name that is not there, in words for the model; undefined for one that nobody knows. */
  missing(name: string): string | undefined;
};

/** `discover` makes what was found callable and gives what the model reads of it. */
export function toolSearchTool(deferred: DeferredTools, discover: (tools: readonly Tool[]) => ToolResult): Tool {
  return defineTool({
    name: "ToolSearch",
    description: [
      "Finds tools of MCP servers that are not in your list yet; reminders give their names. Search before you call one: what is found can be called from your next answer on, with its schema.",
      'query "select:mcp__github__create_issue,mcp__github__add_label" takes these very tools; other words are looked for in names and descriptions, the best match first, and a word with + before it must be there.',
      "Waits for servers that are still starting when nothing else fits. Gives a name and a line for each tool, or says that there is none.",
    ].join("\n"),
    schema,
    access: ({ query }) => ({ kind: "other", subject: query }),
    async run({ query, max_results: max = DEFAULT_RESULTS }, { signal }) {
      const wanted = /^\s*select\s*:\s*(.*)$/is.exec(query)?.[1];
      const found = wanted === undefined ? await search(query, max, deferred, signal) : await select(wanted, deferred, signal);
      return Array.isArray(found) ? discover(found) : found;
    },
  });
}

/** What the model reads of tools that the next request will name. */
export function discovered(tools: readonly Tool[]): ToolResult {
  return textResult(`Found; call them from your next answer on:\n${tools.map(oneLine).join("\n")}`);
}

async function search(query: string, max: number, deferred: DeferredTools, signal: AbortSignal): Promise<Tool[] | ToolResult> {
  let found = bestTools(deferred.all(), query, max);
  if (found.length === 0 && deferred.starting().length > 0) {
    await deferred.settled(undefined, signal);
    found = bestTools(deferred.all(), query, max);
  }
  if (found.length > 0) return found;
  const waiting = deferred.starting();
  const later = waiting.length > 0 ? ` Still starting: ${waiting.join(", ")}; search again later.` : "";
  return errorResult(`No tool fits "${query}". Try other or fewer words.${later}`);
}

async function select(wanted: string, deferred: DeferredTools, signal: AbortSignal): Promise<Tool[] | ToolResult> {
  const names = [...new Set(wanted.split(",").map((name) => name.trim()))].filter((name) => name !== "");
  for (const name of names) if (!find(name, deferred)) await deferred.settled(name, signal);
  const found = names.flatMap((name) => find(name, deferred) ?? []);
  if (found.length > 0) return found;
  return errorResult(names.map((name) => deferred.missing(name) ?? `There is no tool "${name}".`).join(" ") || "Name a tool.");
}

function find(name: string, deferred: DeferredTools): Tool | undefined {
  return deferred.all().find((tool) => tool.name === name);
}
