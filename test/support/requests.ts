import type { Message } from "../../src/protocol/message.ts";
import { userText } from "../../src/protocol/message.ts";
import type { ModelRequest } from "../../src/protocol/model.ts";

/** A request as the loop makes it, with what a test does not care about filled in. */
export function modelRequest(fields: Partial<ModelRequest> & { messages?: readonly Message[] } = {}): ModelRequest {
  return {
    model: "mock-1",
    system: "You are RooCode.",
    messages: [userText("hello")],
    tools: [{ name: "ReadFile", description: "Reads a file.", inputSchema: { type: "object", properties: { path: { type: "string" } } } }],
    maxTokens: 1000,
    ...fields,
  };
}
