import { cheapModel, type SelectedModel, selectModel } from "../engine/providers/select.ts";
import type { MemoryChange, TurnWords } from "../memory/auto-memory/extract.ts";
import { memoryReminder } from "../memory/auto-memory/memory-index.ts";
import type { AgentEvent } from "../protocol/agent.ts";
import { UserError } from "../protocol/errors.ts";
import { type AssistantMessage, messageText } from "../protocol/message.ts";
import { NO_USAGE } from "../protocol/model.ts";
import { maskSecrets } from "../safety/secrets.ts";
import { openMemories } from "./agent-memory.ts";
import { memoryFolders } from "./memory-folders.ts";
import type { Spending } from "./spending.ts";
import type { Surroundings } from "./surroundings.ts";

/** Turns from one request for memories to the next. */
const TURNS_BETWEEN = 3;
/** A word of agreement teaches nothing; a sign of a script without spaces counts for more. */
const MIN_WORDS = 20;
const MAX_FAILURES = 2;

/** Takes memories from a conversation, beside it: a request of its own, to a cheap model, that nobody waits for. */
export interface Learner {
  /** The same events; what was said in them is looked through when the turn has ended well, if it is time for that. */
  watch(said: string, events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent>;
  /** Looks through the last turn now. Gives what changed, in words. */
  now(signal: AbortSignal): Promise<string[]>;
  stop(): void;
}

export class TurnLearner implements Learner {
  readonly #surroundings: Surroundings;
  readonly #spending: Spending;
  readonly #onRemembered: (text: string) => void;
  readonly #stopping = new AbortController();
  #last: TurnWords | undefined;
  #answered: AssistantMessage | undefined;
  #turnsToWait = 0;
  #failures = 0;
  #isBusy = false;

  constructor(surroundings: Surroundings, spending: Spending, onRemembered: (text: string) => void) {
    this.#surroundings = surroundings;
    this.#spending = spending;
    this.#onRemembered = onRemembered;
  }

  async *watch(said: string, events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
    const user = [said];
    const assistant: string[] = [];
    let hasEndedWell = false;
    for await (const event of events) {
      if (event.type === "round_end" && event.steering) user.push(event.steering);
      if (event.type === "message" && event.message.role === "assistant" && event.message.provider !== "") {
        assistant.push(messageText(event.message));
        this.#answered = event.message;
      }
      if (event.type === "loop_complete") hasEndedWell = event.reason === "end_turn";
      yield event;
    }
    this.#last = { user: user.join("\n\n"), assistant: assistant.filter((text) => text !== "").join("\n\n") };
    this.#turnsToWait -= 1;
    const isTime = hasEndedWell && this.#turnsToWait <= 0 && this.#failures < MAX_FAILURES && !this.#isBusy;
    if (!isTime || weight(this.#last.user) < MIN_WORDS) return;
    this.#turnsToWait = TURNS_BETWEEN;
    void this.#learn(this.#last);
  }

  async now(signal: AbortSignal): Promise<string[]> {
    if (!this.#last) return [];
    return this.#changes(this.#last, AbortSignal.any([signal, this.#stopping.signal]));
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Never rejects: nobody waits for it. */
  async #learn(words: TurnWords): Promise<void> {
    this.#isBusy = true;
    try {
      for (const text of await this.#changes(words, this.#stopping.signal)) this.#onRemembered(text);
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      if (!this.#stopping.signal.aborted) await this.#log(error instanceof Error ? error.message : String(error)).catch(() => undefined);
    } finally {
      this.#isBusy = false;
    }
  }

  async #changes(words: TurnWords, signal: AbortSignal): Promise<string[]> {
    const { extractionRequest, readChanges } = await import("../memory/auto-memory/extract.ts");
    const model = this.#model();
    const index = (await memoryReminder(memoryFolders(this.#surroundings))).text ?? "";
    // A key that was typed has gone to the model once; it need not go twice.
    const masked = { user: maskSecrets(words.user), assistant: maskSecrets(words.assistant) };
    const message = await this.#ask(model, extractionRequest(model.model, model.maxOutputTokens, masked, index), signal);
    if (!message) return [];
    const changes = readChanges(message);
    if (!changes) throw new UserError("The model's answer was no list of memories; it was dropped.");
    return this.#apply(changes, signal);
  }

  #model(): SelectedModel {
    const { settings, env } = this.#surroundings;
    const options = { providers: settings.providers ?? [], env };
    if (!this.#answered) throw new UserError("No model has answered yet.");
    return selectModel({ ...options, model: cheapModel(options, this.#answered.provider, this.#answered.model) });
  }

  async #ask(
    { client, prices }: SelectedModel,
    request: Parameters<SelectedModel["client"]["stream"]>[0],
    signal: AbortSignal,
  ): Promise<AssistantMessage | undefined> {
    let failure: string | undefined;
    for await (const event of client.stream(request, signal)) {
      if (event.type === "error") failure = event.text;
      if (event.type !== "end") continue;
      if (event.usage !== NO_USAGE) this.#spending.add(event.usage, prices);
      if (failure !== undefined) throw new UserError(`The request for memories failed: ${failure}`);
      return event.message;
    }
    return undefined;
  }

  async #apply(changes: readonly MemoryChange[], signal: AbortSignal): Promise<string[]> {
    const store = await openMemories(this.#surroundings);
    const done: string[] = [];
    for (const change of changes) {
      if (signal.aborted) break;
      try {
        if ("forget" in change) {
          const gone = await store.forget(change.forget);
          if (gone) done.push(`forgot: ${gone.name}`);
        } else {
          const { memory, isUpdate } = await store.remember(change);
          done.push(`${isUpdate ? "remembered anew" : "remembered"}: ${memory.name} (${memory.type})`);
        }
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        await this.#log(error.message);
      }
    }
    return done;
  }

  async #log(reason: string): Promise<void> {
    const { openLog } = await import("../platform/log.ts");
    (await openLog(this.#surroundings.data.log, maskSecrets)).error({ part: "memory" }, reason);
  }
}

function weight(text: string): number {
  return [...text.trim()].reduce(
    (sum, letter) => sum + (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(letter) ? 3 : 1),
    0,
  );
}
