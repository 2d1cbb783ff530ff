import type { ModelClient, ModelErrorKind, ModelRequest } from "../protocol/model.ts";

export type FallbackModel = { client: ModelClient; model: string; maxOutputTokens: number };

const ACTIVE_MS = 5 * 60_000;
/** What passes, and what lies at the server. A wrong key or a bad request is to be mended, not to be hidden. */
const HELPED: ReadonlySet<ModelErrorKind> = new Set(["rate_limit", "overloaded", "server", "network", "stalled"]);

/** A second model, and until when it stands in for the first. */
export class Fallback {
  readonly #model: FallbackModel;
  readonly #now: () => Date;
  #untilMs = 0;

  constructor(model: FallbackModel, now: () => Date) {
    this.#model = model;
    this.#now = now;
  }

  get client(): ModelClient {
    return this.#model.client;
  }

  get isActive(): boolean {
    return this.#now().getTime() < this.#untilMs;
  }

  canHelp(kind: ModelErrorKind): boolean {
    return HELPED.has(kind);
  }

  activate(): void {
    this.#untilMs = this.#now().getTime() + ACTIVE_MS;
  }

  /** The body's maker drops what only the first model can read. */
  request(request: ModelRequest): ModelRequest {
    const { model, maxOutputTokens } = this.#model;
    return { ...request, model, maxTokens: Math.min(request.maxTokens, maxOutputTokens) };
  }

  notice(model: string, text: string): string {
    return `${model} does not answer (${text}); ${this.#model.model} stands in for it for ${ACTIVE_MS / 60_000} minutes.`;
  }
}
