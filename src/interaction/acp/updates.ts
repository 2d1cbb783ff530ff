import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { AgentEvent } from "../../protocol/agent.ts";
import { retryText } from "../../team/agent-presence.ts";
import { compactedText } from "../compacted-text.ts";
import { callResult, toolCall } from "./tool-call.ts";

export const said = (text: string): SessionUpdate => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const thought = (text: string): SessionUpdate => ({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } });

/** One run's events as the editor's updates. */
export class RunUpdates {
  readonly #cwd: string;
  /** Of the request that runs: words that can't be taken back. */
  #hasSpoken = false;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  of(event: AgentEvent): SessionUpdate[] {
    switch (event.type) {
      case "stream_text":
        this.#hasSpoken = true;
        return [said(event.text)];
      case "stream_thinking":
        return [thought(event.text)];
      case "tool_use":
      case "permission":
      case "tool_result":
        return callUpdates(event, this.#cwd);
      case "attempt_reset": {
        const again = this.#hasSpoken ? [said(`\n\n[The answer broke off and begins again: ${event.reason}]\n\n`)] : [];
        this.#hasSpoken = false;
        return again;
      }
      case "message":
        this.#hasSpoken = false;
        return [];
      case "retry":
        return [thought(`${retryText(event)}\n`)];
      case "notice":
        return [thought(`${event.text}\n`)];
      case "compacted":
        return [thought(`${compactedText(event)}\n`)];
      default:
        return [];
    }
  }
}

/** The calls of any agent. `who`: the sub-agent, where it is one. */
export function callUpdates(event: AgentEvent, cwd: string, who = ""): SessionUpdate[] {
  switch (event.type) {
    case "tool_use":
      return [{ sessionUpdate: "tool_call", ...toolCall(event.call, cwd, who) }];
    case "permission":
      if (event.decision.decision === "deny") return [];
      return [{ sessionUpdate: "tool_call_update", toolCallId: event.id, status: "in_progress" }];
    case "tool_result":
      return [{ sessionUpdate: "tool_call_update", ...callResult(event.call, event.result, cwd) }];
    default:
      return [];
  }
}
