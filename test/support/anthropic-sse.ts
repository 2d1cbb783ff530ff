import type { RawReply } from "./raw-sse.ts";

export type ScriptedCall = { id: string; name: string; input: unknown };

/** A whole Anthropic answer as the wire carries it. */
export function anthropicAnswer({ text, calls = [], stop }: { text?: string; calls?: readonly ScriptedCall[]; stop?: string }): RawReply {
  const frames: [string, unknown][] = [
    [
      "message_start",
      {
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "mock-1",
          content: [],
          usage: { input_tokens: 10, output_tokens: 1 },
        },
      },
    ],
  ];
  let index = 0;
  const block = (start: unknown, delta: unknown) => {
    frames.push(
      ["content_block_start", { index, content_block: start }],
      ["content_block_delta", { index, delta }],
      ["content_block_stop", { index }],
    );
    index += 1;
  };
  if (text !== undefined) block({ type: "text", text: "" }, { type: "text_delta", text });
  for (const { id, name, input } of calls)
    block({ type: "tool_use", id, name, input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(input) });
  frames.push(
    ["message_delta", { delta: { stop_reason: stop ?? (calls.length > 0 ? "tool_use" : "end_turn") }, usage: { output_tokens: 5 } }],
    ["message_stop", {}],
  );
  return { steps: frames.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...(data as object) })}\n\n`) };
}
