import { type Message, messageText } from "../../protocol/message.ts";
import { cutToTokens } from "../cut.ts";
import type { TokenCount } from "../token-count.ts";
import { estimateText } from "../tokens.ts";
import { unitsOf, userWords } from "./conversation.ts";
import { readFiles, touchedFiles } from "./files.ts";
import { keepUnits, keepWords } from "./keep.ts";
import type { Limits } from "./limits.ts";
import { earlierParts, newHistory, type Parts, type Words } from "./new-history.ts";

/** A compaction that saves less than this comes again at once. */
const MAX_SHARE = 0.6;
/** What a short summary and the frame of the new message take. */
const MIN_SUMMARY = 200;
const CUTS = { user: 200, result: 2_000 };

const GO_ON =
  "Go on with the work from where it stands. Do not repeat finished calls; read a file again before you rely on details that are not above.";
const ANSWER = `${GO_ON} The last of the user's messages above has not been answered yet.`;
const REST = "Everything that the user asked for up to here was answered. The user's next message says what comes now.";

type PlanOptions = {
  model: string;
  count: TokenCount;
  /** In estimated tokens without the ratio; they change when a server names its window. */
  limits: () => Limits;
  readFile: (path: string) => Promise<string | undefined>;
};

/** What may stay of a conversation, and what becomes of it. All tokens are estimates without the ratio. */
export class Plan {
  readonly history: readonly Message[];
  readonly #preserved: readonly string[];
  readonly #options: PlanOptions;
  readonly #before: number;
  readonly #allWords: (Words & { tokens: number })[];
  readonly #paths: string[];

  constructor(history: readonly Message[], preserved: readonly string[], options: PlanOptions) {
    this.history = history;
    this.#preserved = [...preserved, ...openReminders(history)];
    this.#options = options;
    this.#before = options.count.rawMessages(history);
    this.#allWords = userWords(history).map((words) => ({ ...words, tokens: estimateText(words.text) }));
    this.#paths = touchedFiles(history);
  }

  /** A sentence when what no compaction can change is larger than the window. */
  hopeless(): string | undefined {
    const { window } = this.#options.limits();
    return this.#fixed() + this.#cost({ words: this.#words(0).kept }) > window ? this.sizes() : undefined;
  }

  canGain(): boolean {
    return this.#cost(this.#base()) + MIN_SUMMARY <= Math.min(this.#before * MAX_SHARE, this.#options.limits().trigger - this.#fixed());
  }

  /** Undefined when that would not be short enough; `run` gets the reason. */
  async withSummary(summary: string, run: { reason: string }): Promise<Message[] | undefined> {
    const { count, limits, readFile } = this.#options;
    const { target, trigger, rounds, files, file } = limits();
    const base = { ...this.#base(), summary };
    const most = Math.min(this.#before * MAX_SHARE, trigger - this.#fixed());
    let left = Math.min(most, target - this.#fixed()) - this.#cost(base);
    const kept = keepUnits(unitsOf(this.history, CUTS), Math.min(rounds, left)).text;
    left -= estimateText(kept);
    const contents = await readFiles(base.paths, readFile, { tokens: Math.min(files, left), each: file });
    const shown = new Set(contents.map(({ path }) => path));
    const paths = base.paths.filter((path) => !shown.has(path));
    // Frames around the parts cost a little as well: what does not fit with all of them fits with less.
    for (const parts of [{ ...base, rounds: kept, files: contents, paths }, { ...base, rounds: kept }, base]) {
      const history = newHistory(this.#complete(parts));
      if (count.rawMessages(history) <= most) return history;
    }
    run.reason = "what had to stay with the model's summary was not short enough";
    return undefined;
  }

  /**
   * Without a model: the oldest whole rounds go until half of the window is free. The others stay as text in the same single
   * message, since thinking and server calls among native rounds are refused once what stood before them is gone.
   * Undefined when it would not be shorter than `share` of what it was.
   */
  dropped(share: number): Message[] | undefined {
    const { count, limits } = this.#options;
    const { half, summary: most } = limits();
    const earlier = this.history.map((message) => (message.role === "user" ? (earlierParts(message)?.summary ?? "") : ""));
    const base = { ...this.#base(), summary: cutToTokens(earlier.findLast((text) => text !== "") ?? "", most) };
    const units = unitsOf(this.history, CUTS);
    for (let tokens = Math.min(half - this.#fixed(), this.#before) - this.#cost(base) - MIN_SUMMARY; ; tokens /= 2) {
      const { text, leftOut } = keepUnits(units, tokens);
      const note = `(No summary could be written. Rounds left out here: ${leftOut}. Look at files and commands again before you rely on what they were.)`;
      const history = newHistory(this.#complete({ ...base, note, rounds: text }));
      if (count.rawMessages(history) < this.#before * share) return history;
      if (text === "") return undefined;
    }
  }

  /** What fills the window, in words for the person. */
  sizes(): string {
    const { model, count, limits } = this.#options;
    const { system, tools } = count.fixed;
    const instructions = this.#preserved.reduce((sum, text) => sum + estimateText(text), 0);
    const last = this.#words(0).kept.reduce((sum, { text }) => sum + estimateText(text), 0);
    const shown = (raw: number) => Math.round(raw * count.ratio);
    return `The context window of ${model} has ${shown(limits().window)} tokens; about ${shown(this.#fixed() + instructions + last)} are needed in any case: system prompt ${shown(system)}, tools ${shown(tools)}, instructions and reminders ${shown(instructions)}, the last message ${shown(last)}. Use a model with a larger window, fewer tools or MCP servers, or shorter instruction files.`;
  }

  #fixed(): number {
    const { system, tools } = this.#options.count.fixed;
    return system + tools;
  }

  /** The parts that every new history has. */
  #base(): Partial<Parts> & Pick<Parts, "words" | "paths"> {
    const { words, target } = this.#options.limits();
    const room = target - this.#fixed() - this.#cost({}) - MIN_SUMMARY;
    const { kept, leftOut } = this.#words(Math.max(0, Math.min(words, room)));
    return { words: kept, leftOutWords: leftOut, paths: this.#paths };
  }

  #words(tokens: number): ReturnType<typeof keepWords> {
    return keepWords(this.#allWords, tokens, this.#options.limits().lastWords);
  }

  #cost(parts: Partial<Parts>): number {
    return this.#options.count.rawMessages(newHistory(this.#complete(parts)));
  }

  #complete(parts: Partial<Parts>): Parts {
    return {
      preserved: this.#preserved,
      words: [],
      leftOutWords: 0,
      summary: "",
      rounds: "",
      files: [],
      paths: [],
      next: this.#next(),
      ...parts,
    };
  }

  #next(): string {
    const last = this.history.at(-1);
    if (last?.role === "assistant") return last.content.some((block) => block.type === "tool_use") ? GO_ON : REST;
    return last?.content.some((block) => block.type === "tool_result") || (last && earlierParts(last)) ? GO_ON : ANSWER;
  }
}

/** A message that wakes the agent by a reminder alone is still to be answered. */
function openReminders(history: readonly Message[]): string[] {
  const last = history.at(-1);
  if (last?.role !== "user" || userWords([last]).length > 0 || last.content.some((block) => block.type === "tool_result")) return [];
  return earlierParts(last) ? [] : [messageText(last)];
}
