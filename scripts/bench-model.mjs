// A lean model server for scripts/bench: Anthropic Messages and OpenAI chat with SSE, answers by a function. Where a
// millisecond counts, its own time must be small: it reads the body whole, notes the time, answers in one write.
import { createServer } from "node:http";

/** `answer(request)` gives { text } or { calls: [{ name, input }] }, or a promise of it; requests are kept in order. */
export async function startModel() {
  const model = { requests: [], answer: () => ({ text: "Done." }) };
  let serial = 0;
  const server = createServer((message, response) => {
    const chunks = [];
    message.on("data", (chunk) => chunks.push(chunk));
    message.on("end", async () => {
      const at = performance.now();
      const raw = Buffer.concat(chunks).toString("utf8");
      const body = JSON.parse(raw);
      const request = { at, end: undefined, bytes: Buffer.byteLength(raw), body, text: raw };
      model.requests.push(request);
      const answer = await model.answer(request);
      if (answer === undefined || response.destroyed) return response.destroy();
      const calls = (answer.calls ?? []).map((call) => ({ id: `call_${++serial}`, ...call }));
      const events = message.url.includes("/chat/") ? openai(answer.text, calls) : anthropic(answer.text, calls);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(events);
      request.end = performance.now();
    });
  });
  server.keepAliveTimeout = 120_000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return Object.assign(model, {
    env: (protocol) =>
      protocol === "openai"
        ? { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "bench" }
        : { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "bench" },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
}

function anthropic(text, calls) {
  const blocks = [
    ...(text
      ? [
          [
            { type: "text", text: "" },
            { type: "text_delta", text },
          ],
        ]
      : []),
    ...calls.map(({ id, name, input }) => [
      { type: "tool_use", id, name, input: {} },
      { type: "input_json_delta", partial_json: JSON.stringify(input) },
    ]),
  ];
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: "msg",
    type: "message",
    role: "assistant",
    model: "bench",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const events = [
    { type: "message_start", message },
    ...blocks.flatMap(([content_block, delta], index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

function openai(text, calls) {
  const tool_calls = calls.map(({ id, name, input }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const chunk = (delta, finish_reason = null) => ({
    id: "chat",
    object: "chat.completion.chunk",
    model: "bench",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const chunks = [
    chunk({ role: "assistant", ...(text ? { content: text } : {}), ...(calls.length > 0 ? { tool_calls } : {}) }),
    chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
  ];
  return `${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")}data: [DONE]\n\n`;
}
