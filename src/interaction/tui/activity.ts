import type { Component } from "@earendil-works/pi-tui";
import type { AgentEvent } from "../../protocol/agent.ts";
import { retryText } from "../../team/agent-presence.ts";
import { visible } from "../visible.ts";
import { clip } from "./clip.ts";
import type { Theme } from "./theme.ts";

const TICK_MS = 1_000;
const HINT_MS = 6_000;

/** One line on what goes on, with the seconds it takes: it is drawn once a second while something runs, and never when nothing does. */
export class Activity implements Component {
  readonly #theme: Theme;
  readonly #redraw: () => void;
  readonly #stop: string;
  #since: number | undefined;
  #what = "";
  #timer: NodeJS.Timeout | undefined;
  #hint = "";
  #hintTimer: NodeJS.Timeout | undefined;

  /** `stop`: the key that ends what runs. */
  constructor(theme: Theme, redraw: () => void, stop = "Esc interrupts") {
    this.#stop = stop;
    this.#theme = theme;
    this.#redraw = redraw;
  }

  /** Of what runs. */
  get elapsedMs(): number {
    return this.#since === undefined ? 0 : performance.now() - this.#since;
  }

  /** For some seconds beside it, or alone. */
  hint(text: string): void {
    this.#hint = text;
    clearTimeout(this.#hintTimer);
    this.#hintTimer = setTimeout(() => {
      this.#hint = "";
      this.#redraw();
    }, HINT_MS);
    this.#hintTimer.unref();
    this.#redraw();
  }

  /** What it said may not hold any more. */
  clearHint(): void {
    if (this.#hint === "") return;
    clearTimeout(this.#hintTimer);
    this.#hint = "";
    this.#redraw();
  }

  observe(event: AgentEvent): void {
    switch (event.type) {
      case "turn_start":
        this.#begin("waits for the model");
        break;
      case "stream_text":
        this.#what = "writes";
        break;
      case "stream_thinking":
        this.#what = "thinks";
        break;
      case "tool_use":
        this.#what = `runs ${event.call.name}`;
        break;
      case "retry":
        this.#what = retryText(event);
        break;
      case "state":
        if (event.state === "compacting") this.#begin("makes room");
        else if (event.state === "calling") this.#what = "waits for the model";
        break;
      case "loop_complete":
        this.stop();
        break;
      default:
        break;
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#since = undefined;
  }

  close(): void {
    this.stop();
    clearTimeout(this.#hintTimer);
  }

  invalidate(): void {}

  render(width: number): string[] {
    const hint = this.#hint === "" ? [] : [clip(this.#theme.dim(visible(this.#hint)), width)];
    if (this.#since === undefined) return hint;
    const seconds = Math.round((performance.now() - this.#since) / 1_000);
    return [clip(this.#theme.accent(`✻ ${visible(this.#what)} · ${seconds} s · ${this.#stop}`), width), ...hint];
  }

  #begin(what: string): void {
    this.#what = what;
    if (this.#since !== undefined) return;
    this.#since = performance.now();
    this.#timer = setInterval(this.#redraw, TICK_MS);
  }
}
