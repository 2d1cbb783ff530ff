import { setTimeout as sleep } from "node:timers/promises";
import type { FixtureResponse } from "@copilotkit/aimock";
import { type Answer, type Conversation, conversationOf } from "./conversation.ts";

type Refusal = { status: number; message: string; retryAfterS?: number };
export type AnswerFunction = (conversation: Conversation) => Answer | Refusal | Promise<Answer | Refusal>;

export type ModelServer = AsyncDisposable & {
  /** For ANTHROPIC_BASE_URL. */
  anthropicUrl: string;
  /** For OPENAI_BASE_URL. */
  openaiUrl: string;
  /** What was asked so far. */
  requests: Conversation[];
  close(): Promise<void>;
};

/** A model server on loopback, for Anthropic Messages and OpenAI chat with real SSE, whose answers a function gives. */
export async function serveAnswers(answer: AnswerFunction, latencyMs = 0): Promise<ModelServer> {
  const { LLMock } = await import("@copilotkit/aimock");
  const requests: Conversation[] = [];
  const server = new LLMock({ host: "127.0.0.1", port: 0, chunkSize: 200, logLevel: "silent", journalMaxEntries: 1 });
  server.on({ predicate: () => true }, async (request) => {
    const conversation = conversationOf(request);
    requests.push(conversation);
    if (latencyMs > 0) await sleep(latencyMs);
    return toResponse(await answer(conversation));
  });
  const url = await server.start();
  const close = () => server.stop();
  return { anthropicUrl: url, openaiUrl: `${url}/v1`, requests, close, [Symbol.asyncDispose]: close };
}

function toResponse(answer: Answer | Refusal): FixtureResponse {
  if ("status" in answer) {
    const { status, message, retryAfterS } = answer;
    return { status, error: { message, type: errorType(status) }, ...(retryAfterS === undefined ? {} : { retryAfter: retryAfterS }) };
  }
  const toolCalls = (answer.calls ?? []).map(({ name, input }) => ({ name, arguments: JSON.stringify(input) }));
  const { text, usage } = answer;
  const counted = usage ? { usage: { prompt_tokens: usage.input, completion_tokens: usage.output } } : {};
  if (toolCalls.length === 0) return { content: text ?? "", ...counted };
  return text === undefined ? { toolCalls, ...counted } : { content: text, toolCalls, ...counted };
}

function errorType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "api_error" : "invalid_request_error";
}
