import type { AgentEvent } from "../protocol/agent.ts";
import type { Message } from "../protocol/message.ts";
import { resultBlock } from "../protocol/results.ts";
import type { Session } from "../protocol/session.ts";

/** What of an event a session keeps; `history` is what the conversation holds after it, `turn` the number of a message that is the person's. */
export async function record(session: Session, event: AgentEvent, history: readonly Message[], turn?: number): Promise<void> {
  const at = new Date().toISOString();
  if (event.type === "message") {
    const { message, usage, cost, mail } = event;
    const spent = { ...(usage ? { usage } : {}), ...(cost === undefined ? {} : { cost }) };
    await session.append({ type: "message", at, message, ...spent, ...(mail ? { mail } : {}), ...(turn === undefined ? {} : { turn }) });
  } else if (event.type === "tool_result") {
    await session.append({ type: "tool_result", at, result: resultBlock(event.call, event.result) });
  } else if (event.type === "round_end") {
    const { type: _, ...round } = event;
    await session.append({ type: "round_end", at, ...round });
  } else if (event.type === "spent") {
    await session.append({ at, ...event });
  } else if (event.type === "compacted") {
    const { type: _, ...compaction } = event;
    await session.append({ type: "compaction", at, ...compaction, history: [...history] });
  }
}
