import { parseAnthropic } from "../../engine/providers/anthropic-stream.ts";
import { parseOpenAI } from "../../engine/providers/openai-stream.ts";
import { parseResponses } from "../../engine/providers/responses-stream.ts";
import type { ModelEvent } from "../../protocol/model.ts";

const PARSERS = { anthropic: parseAnthropic, openai: parseOpenAI, "openai-responses": parseResponses } as const;
export type DebugProtocol = keyof typeof PARSERS;

/** What the engine makes of a model server's bytes, one JSON event a line. */
export async function debugStream(protocol: DebugProtocol, input: AsyncIterable<Uint8Array>, write: (line: string) => void): Promise<void> {
  for await (const event of PARSERS[protocol](input, { provider: protocol, model: "debug" })) write(JSON.stringify(spelled(event)));
}

/** `end` as others read it: counts in snake case, and without the message, which is what the events before it said. */
function spelled(event: ModelEvent): unknown {
  if (event.type !== "end") return event;
  const { input, output, cacheRead, cacheWrite } = event.usage;
  return { type: "end", stop: event.stop, usage: { input, output, cache_read: cacheRead, cache_write: cacheWrite } };
}
