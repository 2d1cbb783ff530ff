import { type Component, Container, matchesKey } from "@earendil-works/pi-tui";
import type { HumanAnswer, PermissionDecision, PermissionRequest } from "../../protocol/permission.ts";
import type { PlanAnswer } from "../../tools/builtin/exit-plan-mode.ts";
import type { PickItem } from "../pick.ts";
import { Dialog } from "./dialog.ts";
import { permissionDialog } from "./permission-dialog.ts";
import { Picker } from "./picker.ts";
import { planDialog } from "./plan-dialog.ts";
import type { PromptEditor } from "./prompt-editor.ts";
import { TextBlock } from "./text-block.ts";
import type { Theme } from "./theme.ts";

/** Keys that were hit so shortly before a question stood there are no answer to it. */
const QUIET_MS = 400;

type QuestionsOptions = {
  theme: Theme;
  editor: PromptEditor;
  rows: () => number;
  redraw: () => void;
  /** Esc, before it means anything to the question. */
  onEscape: () => void;
  /** Calls the person, who may look elsewhere. */
  notify?: ((text: string) => void) | undefined;
};

type OpenDialog = {
  take(data: string): boolean;
  words?: ((text: string) => void) | undefined;
  /** A list that the person opened: Ctrl+C leaves it too. */
  isList?: boolean;
  /** What the person is called for. */
  calls?: string;
};

/** The questions of a screen, one after another, above the input; what the person was writing comes back afterwards. */
export class Questions extends Container {
  readonly #options: QuestionsOptions;
  #last: Promise<unknown> = Promise.resolve();
  #open: OpenDialog | undefined;
  #lastKey = 0;
  #isClosed = false;

  constructor(options: QuestionsOptions) {
    super();
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  get isList(): boolean {
    return this.#open?.isList === true;
  }

  /** A key was hit, whatever for. */
  noteKey(): void {
    this.#lastKey = performance.now();
  }

  /** True when the key was for the question. */
  take(data: string): boolean {
    return this.#open?.take(data) === true;
  }

  /** A line that was typed while a question stands. */
  words(text: string): void {
    if (text.trim() !== "") this.#open?.words?.(text);
  }

  close(): void {
    this.#isClosed = true;
    this.clear();
  }

  ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
    const [title = "", ...body] = question.replace(/\s*>\s*$/, "").split("\n");
    const dialog = new Dialog<string>(
      { title, body: this.#text(body.join("\n")), choices: [], words: "Enter answers" },
      this.#options.theme,
      this.#options.rows,
    );
    return this.#show(dialog, (words) => words, signal);
  }

  pick<Value>(title: string, items: readonly PickItem<Value>[], signal?: AbortSignal): Promise<Value | undefined> {
    const picker = new Picker({
      title,
      items,
      typed: () => this.#options.editor.getText(),
      theme: this.#options.theme,
      rows: this.#options.rows,
    });
    const open = (answer: (value: Value | undefined) => void): OpenDialog => {
      picker.onPick = answer;
      const take = (data: string) => {
        if (!matchesKey(data, "escape") && !matchesKey(data, "ctrl+c")) return picker.take(data);
        answer(undefined);
        return true;
      };
      return { take, isList: true };
    };
    return this.#stand(picker, open, signal);
  }

  choose(question: string, options: readonly string[], signal?: AbortSignal): Promise<string | undefined> {
    const [title = "", ...body] = question.split("\n");
    const choices = options.map((option) => ({ label: option, value: option }));
    const dialog = new Dialog(
      { title, body: this.#text(body.join("\n")), choices, words: "or type another answer" },
      this.#options.theme,
      this.#options.rows,
    );
    return this.#show(dialog, (words) => options[Number(words) - 1] ?? words, signal);
  }

  askPermission(
    request: PermissionRequest,
    decision: PermissionDecision,
    alwaysRule: string | undefined,
    signal: AbortSignal,
  ): Promise<HumanAnswer | undefined> {
    const dialog = permissionDialog({ request, decision, alwaysRule }, this.#options.theme, this.#options.rows);
    return this.#show(dialog, undefined, signal, "no");
  }

  askPlan(file: string, signal: AbortSignal): Promise<PlanAnswer | undefined> {
    return this.#show(planDialog(file, this.#options.theme, this.#options.rows), (feedback) => ({ feedback }), signal);
  }

  /** `onEscape`: what Esc means where it interrupts nothing; without it the question stays. */
  #show<Value>(
    dialog: Dialog<Value>,
    fromWords: ((words: string) => Value) | undefined,
    signal: AbortSignal = new AbortController().signal,
    onEscape?: Value,
  ): Promise<Value | undefined> {
    const open = (answer: (value: Value | undefined) => void): OpenDialog => {
      dialog.onChoice = answer;
      const take = (data: string) => {
        if (!matchesKey(data, "escape")) return dialog.take(data, this.#options.editor.isEmpty);
        this.#options.onEscape();
        if (!signal.aborted && onEscape !== undefined) answer(onEscape);
        return true;
      };
      return { take, words: fromWords && ((words) => answer(fromWords(words))), calls: dialog.title };
    };
    return this.#stand(dialog, open, signal);
  }

  #stand<Value>(
    component: Component,
    open: (answer: (value: Value | undefined) => void) => OpenDialog,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Value | undefined> {
    const shown = this.#last.then(async () => {
      if (!(component instanceof Picker)) await this.#untilQuiet(signal);
      if (signal.aborted || this.#isClosed) return undefined;
      const { editor } = this.#options;
      const draft = editor.getText();
      editor.setText("");
      try {
        return await new Promise<Value | undefined>((resolve) => {
          signal.addEventListener("abort", () => resolve(undefined), { once: true });
          this.#open = open(resolve);
          this.addChild(component);
          if (this.#open.calls !== undefined) this.#options.notify?.(this.#open.calls);
          this.#options.redraw();
        });
      } finally {
        this.#open = undefined;
        this.clear();
        if (!this.#isClosed) editor.setText(draft);
        this.#options.redraw();
      }
    });
    this.#last = shown.catch(() => undefined);
    return shown;
  }

  async #untilQuiet(signal: AbortSignal): Promise<void> {
    for (;;) {
      const rest = QUIET_MS - (performance.now() - this.#lastKey);
      if (rest <= 0 || signal.aborted || this.#isClosed) return;
      await new Promise((resolve) => setTimeout(resolve, rest));
    }
  }

  #text(text: string): (width: number) => string[] {
    if (text === "") return () => [];
    const block = new TextBlock(text);
    return (width) => block.render(width);
  }
}
