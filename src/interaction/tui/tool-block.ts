import type { ToolUseBlock } from "../../protocol/message.ts";
import { resultText, type ToolResult } from "../../protocol/tool.ts";
import { firstLine, shortInput, visible } from "../visible.ts";
import { Block } from "./block.ts";
import { clip, wrap } from "./clip.ts";
import { diffBody, diffLines } from "./diff.ts";
import type { Theme } from "./theme.ts";

const FOLDED = { diff: 24, text: 5 };

/** A call and what came of it: folded to some lines, whole with Ctrl+O. */
export class ToolBlock extends Block {
  readonly #call: ToolUseBlock;
  readonly #theme: Theme;
  #progress: string | undefined;
  #result: ToolResult | undefined;

  constructor(call: ToolUseBlock, theme: Theme) {
    super();
    this.#call = call;
    this.#theme = theme;
  }

  progress(text: string): void {
    this.#progress = visible(text.trimEnd().split("\n").at(-1) ?? "");
    this.changed();
  }

  end(result: ToolResult): void {
    this.#result = result;
    this.changed();
  }

  get isOpen(): boolean {
    return this.#result === undefined;
  }

  /** It was cut off, and no result will come. */
  cut(): void {
    if (this.#result === undefined) this.end({ content: [{ type: "text", text: "interrupted" }], isError: true });
  }

  /** Its result has lines that the fold hides. */
  get isFolded(): boolean {
    return this.#result !== undefined && this.#raw().length > this.#limit + 1;
  }

  /** With all of the result. */
  whole(): string {
    return [`${this.#call.name}${visible(shortInput(this.#call.input))}`, ...this.#raw()].join("\n");
  }

  protected draw(width: number): string[] {
    const { dim, bad } = this.#theme;
    const head = this.#head(width);
    if (this.#result === undefined) return this.#progress ? [head, clip(dim(`    ${this.#progress}`), width)] : [head];
    const raw = this.#raw();
    const shown = (raw.length > this.#limit + 1 ? raw.slice(0, this.#limit) : raw).join("\n");
    const lines =
      this.#result.display?.type === "diff"
        ? diffLines(shown, width, this.#theme)
        : wrap(shown, width, "    ").map(this.#result.isError ? bad : dim);
    const rest = raw.length > this.#limit + 1 ? [clip(dim(`    … ${raw.length - this.#limit} more lines (Ctrl+O shows all)`), width)] : [];
    return [head, ...lines, ...rest];
  }

  #raw(): string[] {
    if (this.#result === undefined) return [];
    const { display } = this.#result;
    if (display?.type === "diff") return diffBody(visible(display.patch));
    const text = visible(display?.text ?? resultText(this.#result)).trimEnd();
    if (text === "") return [];
    return this.#result.isError && !display ? [firstLine(text)] : text.split("\n");
  }

  get #limit(): number {
    return this.#result?.display?.type === "diff" ? FOLDED.diff : FOLDED.text;
  }

  #head(width: number): string {
    const { dim, good, bad, bold } = this.#theme;
    const mark = this.#result === undefined ? dim("○") : this.#result.isError ? bad("●") : good("●");
    return clip(`${mark} ${bold(this.#call.name)}${dim(visible(shortInput(this.#call.input)))}`, width, "…");
  }
}
