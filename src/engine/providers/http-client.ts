import type { ModelClient, ModelRequest } from "../../protocol/model.ts";
import { Adjustments } from "./adjustments.ts";
import type { Answer, ParseContext } from "./answer.ts";
import { usedCallIds } from "./message-ids.ts";
import { STREAM_LIMITS, type StreamLimits, streamAnswer } from "./stream-answer.ts";

/** One protocol at one server. */
type Wire = {
  provider: string;
  baseUrl: string;
  body(request: ModelRequest, adjustments: Adjustments): Record<string, unknown>;
  answer(context: ParseContext): Answer;
  /** Sends the body; the signal stops it, and what came of it. */
  post(body: string, stop: AbortSignal): Promise<unknown>;
  limits?: StreamLimits | undefined;
  idleMs?: (adjustments: Adjustments) => number;
};

/** What the clients of all protocols have in common: one body for one request, and what a server does not take is left out from then on. */
export function httpClient(wire: Wire): ModelClient {
  const adjustments = new Adjustments();
  return {
    stream(request, signal) {
      const asked = adjustments.prepare(request);
      const body = adjustments.strip(wire.body(asked, adjustments));
      const text = JSON.stringify(body);
      const answer = wire.answer({ provider: wire.provider, model: request.model, usedIds: usedCallIds(request.messages) });
      const idleMs = wire.idleMs?.(adjustments) ?? STREAM_LIMITS.idleMs;
      return streamAnswer(
        {
          open: (stop) => wire.post(text, stop),
          adjust: (error) => adjustments.learn(error, body, asked),
          answer,
          baseUrl: wire.baseUrl,
          limits: wire.limits ?? { ...STREAM_LIMITS, idleMs },
        },
        signal,
      );
    },
  };
}
