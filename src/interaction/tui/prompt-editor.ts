import { type AutocompleteProvider, Editor, KeybindingsManager, setKeybindings, type TUI, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import { clip } from "./clip.ts";
import type { Theme } from "./theme.ts";

/** The editor drops tabs of what is pasted. In it this stands for one; it is drawn as an arrow of the same width. */
const TAB = "\uE009";
/** Painted as a whole: the library would paint each of its signs. */
const RULE = /^─+$|^─── [↑↓]/;
const PASTE = /^\x1b\[200~([\s\S]*)\x1b\[201~$/;

/** The person's input: many lines, history, completion; what is pasted is one text, exactly as it was, and of many lines one mark. */
export class PromptEditor extends Editor {
  readonly #theme: Theme;
  onLine: (text: string) => void = () => undefined;
  /** What stands in the input for a pasted text; undefined for itself. */
  onPasted: (text: string) => string | undefined = () => undefined;
  onRemember: (text: string) => void = () => undefined;

  constructor(tui: TUI, theme: Theme, completion?: AutocompleteProvider) {
    super(tui, theme.editor, { autocompleteMaxVisible: 8 });
    this.#theme = theme;
    // Ctrl+B sends work to the background, Ctrl+J is a new line in every terminal.
    setKeybindings(
      new KeybindingsManager(TUI_KEYBINDINGS, {
        "tui.editor.cursorLeft": "left",
        "tui.input.newLine": ["shift+enter", "ctrl+j", "alt+enter"],
      }),
    );
    if (completion) this.setAutocompleteProvider(completion);
    this.onSubmit = (edited) => {
      const text = edited.replaceAll(TAB, "\t");
      if (text.trim() !== "") this.#remember(text);
      this.onLine(text);
    };
  }

  /** Of earlier sessions, oldest first. */
  recall(texts: readonly string[]): void {
    for (const text of texts) this.addToHistory(text.replaceAll("\t", TAB));
  }

  /** Cleared before it was sent: the arrow brings it back. */
  putAside(): void {
    this.#remember(this.getExpandedText().replaceAll(TAB, "\t"));
    this.setText("");
  }

  #remember(text: string): void {
    this.recall([text]);
    this.onRemember(text);
  }

  get isEmpty(): boolean {
    return this.getText() === "";
  }

  override handleInput(data: string): void {
    const pasted = PASTE.exec(data)?.[1];
    const mark = pasted === undefined ? undefined : this.onPasted(pasted);
    if (mark !== undefined) this.insertTextAtCursor(`${mark} `);
    else super.handleInput(pasted === undefined ? data : `\x1b[200~${pasted.replaceAll("\t", TAB)}\x1b[201~`);
  }

  override render(width: number): string[] {
    const { dim } = this.#theme;
    return super.render(width).map((line) => (RULE.test(line) ? dim(line) : clip(line.replaceAll(TAB, dim("→")).trimEnd(), width)));
  }
}
