import { type AutocompleteProvider, type Component, isKeyRelease, matchesKey, type Terminal } from "@earendil-works/pi-tui";
import type { AgentEvent } from "../../protocol/agent.ts";
import type { ImageBlock } from "../../protocol/message.ts";
import type { HumanAnswer } from "../../protocol/permission.ts";
import type { PlanAnswer } from "../../tools/builtin/exit-plan-mode.ts";
import type { Earlier } from "../earlier-messages.ts";
import { PastedImages } from "../pasted-images.ts";
import type { PickItem } from "../pick.ts";
import type { InputListener, Key, Screen, ScreenTheme } from "../screen.ts";
import type { SteeringQueue } from "../steering-queue.ts";
import { visible } from "../visible.ts";
import { Activity } from "./activity.ts";
import { PromptEditor } from "./prompt-editor.ts";
import { Questions } from "./questions.ts";
import { QueueView } from "./queue-view.ts";
import { ScreenTui } from "./screen-tui.ts";
import { StatusLine } from "./status-line.ts";
import type { Theme } from "./theme.ts";
import { Transcript } from "./transcript.ts";

export type TuiOptions = {
  terminal: Terminal;
  theme: Theme;
  queue: SteeringQueue;
  completion?: AutocompleteProvider | undefined;
  /** Parts of the bottom line, by their weight. */
  status: () => readonly string[];
  onEvent?: ((event: AgentEvent) => void) | undefined;
  /** Calls the person, who may look elsewhere. */
  notify?: ((text: string) => void) | undefined;
  /** Ctrl+V: where images come from. */
  clipboard?: (() => Promise<{ bytes: Buffer } | { problem: string }>) | undefined;
  /** Ctrl+G. */
  onJump?: (() => void) | undefined;
  /** Above the input; its keys come before the input's. */
  panel?: (Component & { take(data: string, isInputEmpty: boolean): boolean }) | undefined;
};

/** The end of a run that took less is no news. */
const LONG_MS = 20_000;

/** The full screen of a session: events in, lines and keys out. Owns no agent state. */
export class TuiScreen implements Screen {
  readonly #tui: ScreenTui;
  readonly #theme: Theme;
  readonly #options: TuiOptions;
  readonly #transcript: Transcript;
  readonly #activity: Activity;
  readonly #questions: Questions;
  readonly #editor: PromptEditor;
  readonly #images: PastedImages;
  #listener: InputListener | undefined;
  #openPrompt: ((line: string | undefined) => void) | undefined;
  #typed: string[] = [];
  #isClosed = false;

  constructor(options: TuiOptions) {
    this.#options = options;
    this.#theme = options.theme;
    this.#tui = new ScreenTui(options.terminal);
    const { theme } = options;
    this.theme = {
      get name() {
        return theme.name;
      },
      use: (name) => {
        theme.use(name);
        this.#tui.invalidate();
        this.#tui.requestRender(true);
      },
    };
    this.#transcript = new Transcript(this.#theme);
    this.#activity = new Activity(this.#theme, () => this.#tui.requestRender(), options.panel ? "Ctrl+C stops the team" : undefined);
    this.#editor = new PromptEditor(this.#tui, this.#theme, options.completion);
    this.#images = new PastedImages((text) => this.dim(text));
    this.#questions = new Questions({
      theme,
      editor: this.#editor,
      rows: () => options.terminal.rows,
      redraw: () => this.#tui.requestRender(),
      onEscape: () => this.#listener?.key("escape"),
      notify: options.notify,
    });
    if (options.clipboard) this.#editor.onPasted = (text) => this.#images.marksFor(text);
    this.#editor.onLine = (text) => this.#onLine(text);
    const parts = [
      this.#transcript,
      this.#questions,
      this.#activity,
      new QueueView(options.queue, this.#theme),
      ...(options.panel ? [options.panel] : []),
    ];
    for (const part of [...parts, this.#editor, new StatusLine(options.status, this.#theme)]) this.#tui.addChild(part);
    this.#tui.setFocus(this.#editor);
    this.#tui.addInputListener((data) => (this.#onKey(data) ? { consume: true } : undefined));
    this.#tui.start();
  }

  /** What the person typed before, oldest first; `onNew` hears of what comes. */
  recall(texts: readonly string[], onNew: (text: string) => void): void {
    this.#editor.recall(texts);
    this.#editor.onRemember = onNew;
  }

  readonly theme: ScreenTheme;

  redraw(): void {
    this.#tui.requestRender();
  }

  line(text: string): void {
    this.#say(text, (line) => line);
  }

  dim(text: string): void {
    this.#say(text, this.#theme.dim);
  }

  /** The last words come when the screen has let go of the terminal, and stand below it. */
  #say(text: string, paint: (line: string) => string): void {
    if (this.#isClosed) this.#options.terminal.write(`${paint(visible(text))}\n`);
    else {
      this.#transcript.line(text, paint);
      this.#tui.requestRender();
    }
  }

  echo(text: string): void {
    this.#transcript.user(text);
    this.#tui.requestRender();
  }

  earlier(messages: Earlier): void {
    this.#transcript.earlier(messages);
    this.#tui.requestRender();
  }

  hint(text: string): void {
    this.#activity.hint(text);
  }

  clear(): void {
    this.#transcript.clear();
    if (!this.#isClosed) this.#tui.requestRender(true);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#activity.close();
    this.#questions.close();
    this.#openPrompt?.(undefined);
    this.#tui.stop();
  }

  event(event: AgentEvent, who = ""): void {
    if (who === "") {
      if (event.type === "loop_complete" && this.#activity.elapsedMs > LONG_MS) this.#options.notify?.("The agent is done.");
      this.#activity.observe(event);
      this.#transcript.event(event);
      this.#options.onEvent?.(event);
    } else this.#transcript.other(who, event);
    this.#tui.requestRender();
  }

  listen(listener: InputListener): void {
    this.#listener = listener;
  }

  prompt(giveWay: AbortSignal): Promise<string | undefined> {
    const typed = this.#typed.shift();
    if (typed !== undefined || this.#isClosed || giveWay.aborted) return Promise.resolve(typed);
    return new Promise((resolve) => {
      const settle = (line: string | undefined) => {
        giveWay.removeEventListener("abort", onAbort);
        this.#openPrompt = undefined;
        resolve(line);
      };
      const onAbort = () => settle(undefined);
      giveWay.addEventListener("abort", onAbort);
      this.#openPrompt = settle;
      this.#tui.requestRender();
    });
  }

  imagesIn(text: string): ImageBlock[] {
    return this.#images.in(text);
  }

  answer(text: string): void {
    if (!this.#editor.isEmpty || !this.#openPrompt) return;
    this.#transcript.user(text);
    this.#openPrompt(text);
  }

  ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
    return this.#questions.ask(question, signal);
  }

  pick<Value>(title: string, items: readonly PickItem<Value>[], signal?: AbortSignal): Promise<Value | undefined> {
    return this.#questions.pick(title, items, signal);
  }

  choose(question: string, options: readonly string[], signal?: AbortSignal): Promise<string | undefined> {
    return this.#questions.choose(question, options, signal);
  }

  async askPermission(...question: Parameters<Screen["askPermission"]>): Promise<HumanAnswer | undefined> {
    const [request] = question;
    const answer = await this.#questions.askPermission(...question);
    if (answer !== undefined) this.#transcript.dim(`${request.agent}: ${request.tool}: you said ${answer}.`);
    return answer;
  }

  askPlan(plan: string, file: string, signal: AbortSignal): Promise<PlanAnswer | undefined> {
    this.#transcript.markdown(plan);
    return this.#questions.askPlan(file, signal);
  }

  #onLine(text: string): void {
    if (this.#questions.isOpen) {
      this.#questions.words(text);
      return;
    }
    if (this.#listener?.line(text)) return;
    if (text.trim() !== "") this.#transcript.user(text);
    if (this.#openPrompt) this.#openPrompt(text);
    else this.#typed.push(text);
  }

  /** True when the key was not for the input. */
  #onKey(data: string): boolean {
    if (isKeyRelease(data)) return false;
    this.#questions.noteKey();
    this.#activity.clearHint();
    if (matchesKey(data, "ctrl+c") && !this.#questions.isList) {
      this.#onInterrupt();
      return true;
    }
    if (this.#questions.take(data)) {
      this.#tui.requestRender();
      return true;
    }
    if (!this.#questions.isOpen && this.#options.panel?.take(data, this.#editor.isEmpty)) {
      this.#tui.requestRender();
      return true;
    }
    if (matchesKey(data, "ctrl+z")) {
      this.#suspend();
      return true;
    }
    if (matchesKey(data, "ctrl+g") && this.#options.onJump) {
      this.#options.onJump();
      return true;
    }
    if (matchesKey(data, "ctrl+v") && this.#options.clipboard) {
      void this.#pasteImage(this.#options.clipboard);
      return true;
    }
    if (matchesKey(data, "ctrl+l")) {
      this.#tui.requestRender(true);
      return true;
    }
    if (matchesKey(data, "ctrl+o")) {
      if (!this.#transcript.unfold()) this.hint("The last result is shown whole.");
      this.#tui.requestRender();
      return true;
    }
    if (matchesKey(data, "ctrl+d") && this.#editor.isEmpty) {
      this.#openPrompt?.(undefined);
      return true;
    }
    if (matchesKey(data, "up") && this.#editor.isEmpty) return this.#takeBack();
    const key = this.#actsAtOnce(data);
    if (key === undefined) return false;
    this.#listener?.key(key);
    this.#tui.requestRender();
    return true;
  }

  async #pasteImage(clipboard: NonNullable<TuiOptions["clipboard"]>): Promise<void> {
    const found = await clipboard();
    if ("problem" in found) this.dim(found.problem);
    const mark = "bytes" in found ? this.#images.add(found.bytes, "What the clipboard has") : undefined;
    if (mark !== undefined) this.#editor.insertTextAtCursor(`${mark} `);
    this.#tui.requestRender();
  }

  #actsAtOnce(data: string): Key | undefined {
    // Esc closes the list of completions first.
    if (matchesKey(data, "escape")) return this.#editor.isShowingAutocomplete() ? undefined : "escape";
    if (matchesKey(data, "ctrl+b")) return "background";
    if (matchesKey(data, "shift+tab")) return "next-mode";
    return undefined;
  }

  /** The terminal is given back, and taken again when the process goes on. */
  #suspend(): void {
    this.#tui.stop();
    // Nothing else keeps a process alive that reads no input.
    const held = setInterval(() => undefined, 60_000);
    process.once("SIGCONT", () => {
      clearInterval(held);
      if (this.#isClosed) return;
      this.#tui.start();
      this.#tui.requestRender(true);
    });
    // As the terminal does it: to all of this job.
    process.kill(0, "SIGTSTP");
  }

  /** What is cleared can be had again with the arrow key. */
  #onInterrupt(): void {
    if (this.#editor.isEmpty) this.#listener?.key("interrupt");
    else this.#editor.putAside();
    this.#tui.requestRender();
  }

  /** The last message that waits, back into the input. */
  #takeBack(): boolean {
    const { messages } = this.#options.queue;
    const last = messages.at(-1);
    if (last === undefined) return false;
    this.#options.queue.replace(messages.length, "");
    this.#editor.setText(last);
    this.#tui.requestRender();
    return true;
  }
}
