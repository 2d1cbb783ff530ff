import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { allEntries } from "../../memory/load-session.ts";
import { type Part, parts } from "../../memory/session-export/parts.ts";
import { callResult, toolCall } from "./tool-call.ts";

/** A session that is loaded, as the updates that once told of it. What the system said to the model is no part of it. */
export function* replay(path: string, cwd: string): Generator<SessionUpdate> {
  let last: Part["type"] | undefined;
  for (const part of parts(allEntries(path))) {
    if (part.type === "user" && NEWS.test(part.text)) continue;
    // An editor joins chunks that follow each other.
    const isMore = part.type === last && (part.type === "user" || part.type === "assistant");
    yield* partUpdates(isMore ? { ...part, text: `\n\n${part.text}` } : part, cwd);
    last = part.type;
  }
}

/** What the system told in the person's place. */
const NEWS = /^<(?:task-notification|teammate-message)\b/;

function partUpdates(part: Part, cwd: string): SessionUpdate[] {
  switch (part.type) {
    case "user":
      return [{ sessionUpdate: "user_message_chunk", content: { type: "text", text: part.text } }];
    case "image":
      return [{ sessionUpdate: "user_message_chunk", content: { type: "image", mimeType: part.image.mediaType, data: part.image.data } }];
    case "assistant":
      return [{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: part.text } }];
    case "thinking":
      return [{ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: part.text } }];
    case "call": {
      const { call, result } = part;
      const outcome: SessionUpdate = result
        ? { sessionUpdate: "tool_call_update", ...callResult(call, result, cwd) }
        : { sessionUpdate: "tool_call_update", toolCallId: call.id, status: "failed" };
      return [{ sessionUpdate: "tool_call", ...toolCall(call, cwd) }, outcome];
    }
    case "note":
    case "reminder":
      return [];
  }
}
