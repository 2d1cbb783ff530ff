import { resultText, type Tool } from "../../../src/protocol/tool.ts";

/** What the model would read, with `Error: ` in front of an error. */
export async function run(tool: Tool, input: unknown): Promise<string> {
  const context = { cwd: "/", callId: "1", signal: new AbortController().signal, progress: () => undefined };
  const result = await tool.run(tool.parse(input), context);
  return `${result.isError ? "Error: " : ""}${resultText(result)}`;
}
