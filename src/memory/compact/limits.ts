import type { Message } from "../../protocol/message.ts";

const MAX_RESERVE = 20_000;
const MAX_BUFFER = 13_000;
/** Below what the vendors refuse: 100 images, 20 MB. */
const MAX_IMAGES = 90;
const MAX_IMAGE_CHARACTERS = 15_000_000;

export type Limits = {
  window: number;
  /** From here on the next request is too near to the window. */
  trigger: number;
  /** What a summary may take. */
  summary: number;
  /** What a compacted conversation may take with system and tools: room for work has to be left. */
  target: number;
  /** The same when no model helps. */
  half: number;
  /** Each part that is kept, so that a window of 8k works like one of 200k. */
  words: number;
  lastWords: number;
  rounds: number;
  files: number;
  file: number;
};

/** All in the units of `window`. */
export function limitsOf(window: number, maxOutputTokens: number): Limits {
  const reserve = Math.min(maxOutputTokens, MAX_RESERVE, Math.floor(window / 4));
  const buffer = Math.min(MAX_BUFFER, Math.floor(window / 10));
  const trigger = window - reserve - buffer;
  return {
    window,
    trigger,
    summary: reserve,
    target: Math.floor(trigger * 0.7),
    half: Math.floor(window / 2),
    words: Math.min(20_000, Math.floor(window / 5)),
    lastWords: Math.floor(window / 2),
    rounds: Math.min(8_000, Math.floor(window / 10)),
    files: Math.min(20_000, Math.floor(window / 8)),
    file: Math.min(5_000, Math.floor(window / 20)),
  };
}

/** Servers count images and their bytes apart from tokens. */
export function hasTooManyImages(history: readonly Message[]): boolean {
  let images = 0;
  let characters = 0;
  for (const message of history) {
    for (const block of message.content) {
      for (const part of block.type === "tool_result" ? block.content : [block]) {
        if (part.type !== "image") continue;
        images += 1;
        characters += part.data.length;
      }
    }
  }
  return images >= MAX_IMAGES || characters >= MAX_IMAGE_CHARACTERS;
}
