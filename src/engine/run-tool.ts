import type { AgentEvent } from "../protocol/agent.ts";
import { ToolInputError } from "../protocol/errors.ts";
import { adviceOf, type FireHook } from "../protocol/hook.ts";
import { interrupter } from "../protocol/interruption.ts";
import type { ToolUseBlock } from "../protocol/message.ts";
import type { Authorize } from "../protocol/permission.ts";
import { type Access, errorResult, type Tool, type ToolResult } from "../protocol/tool.ts";

export type RunToolOptions = {
  agent: string;
  cwd: string;
  tools: ReadonlyMap<string, Tool>;
  /** For a call whose tool is not among these, or only stands for another one; undefined where it is no other. */
  resolve?: ((call: ToolUseBlock, signal: AbortSignal) => Promise<ResolvedCall | undefined>) | undefined;
  authorize: Authorize;
  fireHook?: FireHook;
  /** Before a call that may change files: what they are now can be kept. */
  beforeChange?: ((access: Access) => Promise<void>) | undefined;
  /** First layer of memory: a large result goes to disk, a preview of at most `maxCharacters` stays. */
  shrink: (call: ToolUseBlock, result: ToolResult, maxCharacters: number) => Promise<ToolResult>;
};

/** `refusal` is for the model. */
export type ResolvedCall = { tool: Tool; input: Record<string, unknown> } | { refusal: string };

/** A call after parse, hook and permission: it either has its result already (an error) or can be run. */
export type PreparedCall = { call: ToolUseBlock } & (
  | { type: "answered"; result: ToolResult }
  | { type: "ready"; run(signal: AbortSignal, progress: (text: string) => void): Promise<ToolResult> }
);

/** The one place that runs a tool: parse, hook (a changed input is parsed again), authorize, run, hook. Never throws but for a bug. */
export async function prepareCall(
  original: ToolUseBlock,
  options: RunToolOptions,
  signal: AbortSignal,
  emit: (event: AgentEvent) => void,
): Promise<PreparedCall> {
  const answered = (result: ToolResult): PreparedCall => ({ call: original, type: "answered", result });
  const found = original.malformed === undefined ? await options.resolve?.(original, signal) : undefined;
  if (found && "refusal" in found) return answered(errorResult(found.refusal));
  const tool = found?.tool ?? options.tools.get(original.name);
  if (!tool) return answered(errorResult(`There is no tool "${original.name}". Tools: ${[...options.tools.keys()].join(", ")}.`));
  if (original.malformed !== undefined) {
    const reason = jsonProblem(original.malformed);
    return answered(
      errorResult(`The arguments of ${original.name} were no JSON object (${reason}), so it was not run. Send the call again.`),
    );
  }
  try {
    let given = found?.input ?? original.input;
    let input = tool.parse(given);
    const hooked = await options.fireHook?.({ event: "pre_tool_use", tool: tool.name, input, callId: original.id }, signal);
    if (hooked?.updatedInput) {
      given = hooked.updatedInput;
      input = reparsed(tool, given);
    }

    const hook = hooked && adviceOf(hooked);
    const call = { ...original, name: tool.name, input: given };
    const request = { agent: options.agent, tool: tool.name, access: tool.access(input), call, ...(hook ? { hook } : {}) };
    const { resolved, ...decision } = await options.authorize(request, signal);
    const { call: _, ...asked } = request;
    emit({ type: "permission", id: original.id, request: asked, decision });
    if (decision.decision === "deny") {
      const text = decision.layer === "human" ? decision.reason : `Permission denied: ${decision.reason}`;
      return answered(errorResult(text));
    }
    const run = async (runSignal: AbortSignal, progress: (text: string) => void): Promise<ToolResult> => {
      // What is kept for undoing is the file that will be changed, whatever the path was relative to.
      const access = resolved ? { ...request.access, paths: resolved } : request.access;
      if (mayChange(tool, input, access)) await options.beforeChange?.(access);
      const context = { cwd: options.cwd, callId: original.id, signal: runSignal, progress, resolved };
      const result = await tool.run(input, context).catch((error: unknown) => failure(tool.name, error, runSignal));
      const event = result.isError ? "post_tool_failure" : "post_tool_use";
      if (!runSignal.aborted) await options.fireHook?.({ event, tool: tool.name, input, callId: original.id, result }, signal);
      return result;
    };
    return { call: original, type: "ready", run };
  } catch (error) {
    if (error instanceof ToolInputError) return answered(errorResult(error.message));
    if (signal.aborted) return answered(errorResult(`Not started: interrupted by ${interrupter(signal)}.`));
    throw error;
  }
}

function reparsed(tool: Tool, input: Record<string, unknown>): unknown {
  try {
    return tool.parse(input);
  } catch (error) {
    if (!(error instanceof ToolInputError)) throw error;
    throw new ToolInputError(`A hook changed the input of this call to one that does not fit, so it was not run. ${error.message}`);
  }
}

/** What a parser says of it, with the position. */
function jsonProblem(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return `position 0: ${Array.isArray(value) ? "an array" : value === null ? "null" : `a ${typeof value}`}`;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return reason.includes("position") ? reason : `position ${text.length}: ${reason}`;
  }
}

/** What only looks says so by being safe beside others. */
function mayChange(tool: Tool, input: unknown, { kind }: Access): boolean {
  return kind === "write" || (kind === "command" && !tool.isConcurrencySafe(input));
}

/** Every failure of a tool is a result for the model. */
function failure(name: string, error: unknown, signal: AbortSignal): ToolResult {
  if (signal.aborted) return errorResult(`Interrupted by ${interrupter(signal)}.`);
  return errorResult(`${name} failed: ${error instanceof Error ? error.message : String(error)}`);
}
