import { type LoopOptions, runLoop } from "../engine/loop.ts";
import { spill } from "../memory/spill.ts";
import type { Agent, AgentEvent, AgentInput, AgentSpec } from "../protocol/agent.ts";
import type { FireHook } from "../protocol/hook.ts";
import type { ToolSpec } from "../protocol/model.ts";
import type { Authorize } from "../protocol/permission.ts";
import { resultBlock } from "../protocol/results.ts";
import type { Session } from "../protocol/session.ts";
import { toApiFormat } from "./toolset.ts";

export type AgentParts = {
  client: LoopOptions["model"];
  maxTokens: number;
  authorize: Authorize;
  session: Session;
  /** Large results go here. */
  spillFolder: string;
  fireHook?: FireHook;
  /** Of a session that goes on: sent again as they were. */
  toolSpecs?: readonly ToolSpec[];
};

/**
 * Joins model, tools, permission, hooks and session into one Agent. What the loop yields is in the session's file before it
 * is passed on. Runs of one agent share its history and come one after another.
 */
export function createAgent(spec: AgentSpec, parts: AgentParts): Agent {
  const history = [...spec.history];
  const options: LoopOptions = {
    model: parts.client,
    modelId: spec.model,
    maxTokens: parts.maxTokens,
    system: spec.system,
    toolSpecs: parts.toolSpecs ?? toApiFormat(spec.tools),
    maxTurns: spec.maxTurns,
    history,
    ...(spec.pending ? { pending: spec.pending } : {}),
    runTool: {
      agent: spec.name,
      cwd: spec.cwd,
      tools: new Map(spec.tools.map((tool) => [tool.name, tool])),
      authorize: parts.authorize,
      ...(parts.fireHook ? { fireHook: parts.fireHook } : {}),
      shrink: (call, result, maxCharacters) => spill(parts.spillFolder, call, result, maxCharacters),
    },
  };
  return {
    async *run(input: AgentInput, signal: AbortSignal) {
      for await (const event of runLoop(options, input, signal)) {
        await record(parts.session, event);
        yield event;
      }
    },
  };
}

async function record(session: Session, event: AgentEvent): Promise<void> {
  const at = new Date().toISOString();
  if (event.type === "message") {
    const { message, usage, mail } = event;
    await session.append({ type: "message", at, message, ...(usage ? { usage } : {}), ...(mail ? { mail } : {}) });
  } else if (event.type === "tool_result") {
    await session.append({ type: "tool_result", at, result: resultBlock(event.call, event.result) });
  } else if (event.type === "round_end") {
    const { reminder, mail } = event;
    await session.append({ type: "round_end", at, ...(reminder ? { reminder } : {}), ...(mail ? { mail } : {}) });
  }
}
