import type { ModelClient } from "../../protocol/model.ts";
import { httpClient } from "./http-client.ts";
import type { OpenAIClientOptions } from "./openai.ts";
import { openAIPost } from "./openai-post.ts";
import { toResponsesBody } from "./responses-body.ts";
import { ResponsesAnswer } from "./responses-stream.ts";

export function responsesClient(options: OpenAIClientOptions): ModelClient {
  return httpClient({
    ...options,
    body: (request, adjustments) => toResponsesBody(request, { ...options, strictTools: adjustments.takes("strict") }),
    answer: (context) => new ResponsesAnswer(context),
    post: openAIPost("/responses", options),
  });
}
