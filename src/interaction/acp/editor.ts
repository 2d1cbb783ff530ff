import type {
  AgentContext,
  ClientCapabilities,
  CreateElicitationRequest,
  CreateElicitationResponse,
  PermissionOption,
  SessionUpdate,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";

type Note = (text: string) => void;

/** The other side of the connection. When it is gone, updates go nowhere and every question is unanswered. */
export class Editor {
  readonly #client: AgentContext;
  readonly #gone: AbortSignal;
  readonly note: Note;
  capabilities: ClientCapabilities | undefined;

  constructor(client: AgentContext, gone: AbortSignal, note: Note) {
    this.#client = client;
    this.#gone = gone;
    this.note = note;
  }

  async update(sessionId: string, update: SessionUpdate): Promise<void> {
    try {
      await this.#client.notify("session/update", { sessionId, update });
    } catch (error) {
      if (!this.#gone.aborted) throw error;
    }
  }

  /** Id of the option that was chosen; undefined when nobody chose, or the signal came first. */
  async choose(
    sessionId: string,
    toolCall: ToolCallUpdate,
    options: readonly PermissionOption[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const asked = this.#client.request("session/request_permission", { sessionId, toolCall, options: [...options] });
    const answer = await this.#answer(asked, signal);
    return answer?.outcome.outcome === "selected" ? answer.outcome.optionId : undefined;
  }

  /** Whether the person can be shown a form. */
  get hasForms(): boolean {
    return Boolean(this.capabilities?.elicitation?.form);
  }

  fill(form: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse | undefined> {
    return this.#answer(this.#client.request("elicitation/create", form), signal);
  }

  /** What is not answered well is not answered: a denial follows from it, never more. */
  async #answer<Answer>(asked: Promise<Answer>, signal: AbortSignal): Promise<Answer | undefined> {
    const answered = asked.catch((error: unknown) => {
      if (!this.#gone.aborted) this.note(`The editor did not answer a question: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    });
    if (signal.aborted) return undefined;
    let stop = () => {};
    const stopped = new Promise<undefined>((resolve) => {
      stop = () => resolve(undefined);
    });
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await Promise.race([answered, stopped]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }
}
