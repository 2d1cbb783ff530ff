import type { Message, UserMessage } from "../../protocol/message.ts";
import { toolCalls } from "../../protocol/message.ts";
import type { ToolSpec } from "../../protocol/model.ts";
import { resultBlock, resultsMessage } from "../../protocol/results.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";

/**
 * The history that a fork begins with: all of its parent's, in which the answer that forks is the last message, with each call of it
 * answered, and behind the answers what the fork is to do. What its parent last sent is the beginning of what it sends. `worktree` is
 * where it works when that is another place than its parent's.
 */
export function forkedHistory(history: readonly Message[], callId: string, task: string, worktree?: string): Message[] {
  const last = history.at(-1);
  if (last?.role !== "assistant") throw new Error("A fork begins with the answer that asked for it.");
  const results = toolCalls(last).map((call) =>
    resultBlock(
      call,
      textResult(call.id === callId ? "You are the fork that this call began." : "The one you were forked from does this."),
    ),
  );
  const message: UserMessage = resultsMessage(results, worktree === undefined ? FORKED : `${FORKED}\n${placeText(worktree)}`, task);
  return [...history, message];
}

const FORKED =
  "<system-reminder>You are a fork now: you know all that was said before, and work beside the one you were forked from, who goes on with the person. Do what stands below and no more, with your own tools. Do not start agents, do not ask and do not address the person: nobody reads you but the one you were forked from. End with a short report: what you did or found, with paths, and what is left open.</system-reminder>";

/** The system prompt that it shares names its parent's folder. */
function placeText(worktree: string): string {
  return `<system-reminder>From here on your working folder is ${worktree}: a git worktree of your own that begins at the last commit. Read and change files there and nowhere else, also those that were named above by a path in the other checkout.</system-reminder>`;
}

/** The tools of a fork: it sends its parent's array, so what it may not use, or does not have, is refused when it is called. */
export function forkTools(specs: readonly ToolSpec[], tools: readonly Tool[], mayUse: (name: string) => boolean): Tool[] {
  const own = new Map(tools.filter(({ name }) => mayUse(name)).map((tool) => [tool.name, tool]));
  // What the parent found of a server or a skill is found again when it is called.
  const isFound = (name: string) => own.has(name) || (/^(?:mcp|skill)__/.test(name) && mayUse(name));
  const refused = specs.filter(({ name }) => !isFound(name)).map(refusing);
  return [...own.values(), ...refused];
}

function refusing(spec: ToolSpec): Tool {
  const words = `A sub-agent may not use ${spec.name}. Do without it, and say in your report what it was needed for.`;
  return {
    ...spec,
    parse: (input) => input,
    access: () => ({ kind: "other", subject: spec.name }),
    isConcurrencySafe: () => true,
    run: async () => errorResult(words),
  };
}
