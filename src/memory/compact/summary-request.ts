import { type Message, userText } from "../../protocol/message.ts";
import type { ModelRequest, ToolSpec } from "../../protocol/model.ts";
import { cutToTokens } from "../cut.ts";
import { estimateText } from "../tokens.ts";
import { unitsOf } from "./conversation.ts";
import { keepUnits } from "./keep.ts";
import type { Limits } from "./limits.ts";
import { earlierParts } from "./new-history.ts";
import { SUMMARY_SYSTEM, summaryPrompt } from "./summary-prompt.ts";

const CUTS = { user: 8_000, result: 2_000 };
const FRAME_TOKENS = 100;

/** The live conversation with one more request of the user: the same bytes up to there, so the server has them in its cache. */
export function suffixRequest(
  history: readonly Message[],
  { model, system, toolSpecs }: { model: string; system: string; toolSpecs: readonly ToolSpec[] },
  maxTokens: number,
  focus: string | undefined,
): ModelRequest {
  const prompt = userText(summaryPrompt(focus));
  const last = history.at(-1);
  // Strict servers refuse two messages of the user in a row.
  const messages: Message[] =
    last?.role === "user" ? [...history.slice(0, -1), { ...last, content: [...last.content, ...prompt.content] }] : [...history, prompt];
  return { model, system, messages, tools: toolSpecs, maxTokens };
}

/**
 * A conversation of its own: no tools, no images, the history as text with its results cut, the oldest rounds left out until
 * it fits. `limits` are in estimated tokens; `share` of them is used. Undefined when not even a part of a round fits.
 */
export function transcriptRequest(
  history: readonly Message[],
  { model, maxOutputTokens }: { model: string; maxOutputTokens: number },
  limits: Limits,
  { focus, share }: { focus: string | undefined; share: number },
): ModelRequest | undefined {
  const prompt = summaryPrompt(focus);
  const summaries = history.flatMap((message) => (message.role === "user" ? (earlierParts(message)?.summary ?? []) : []));
  const room = (limits.window * 0.95 - limits.summary - FRAME_TOKENS) * share - estimateText(prompt) - estimateText(SUMMARY_SYSTEM);
  const earlier = cutToTokens(summaries.findLast((text) => text !== "") ?? "", room / 3);
  const { text, leftOut } = keepUnits(unitsOf(history, CUTS), room - estimateText(earlier));
  if (text === "") return undefined;
  const parts = [
    ...(earlier
      ? [
          `What happened before the transcript; bring it up to date in your sections:\n<conversation-summary>\n${earlier}\n</conversation-summary>`,
        ]
      : []),
    ...(leftOut > 0 ? [`(The oldest ${leftOut} rounds are left out.)`] : []),
    `<conversation-transcript>\n${text}\n</conversation-transcript>`,
    prompt,
  ];
  const maxTokens = Math.min(maxOutputTokens, Math.max(1_000, limits.summary));
  return { model, system: SUMMARY_SYSTEM, messages: [userText(parts.join("\n\n"))], tools: [], maxTokens };
}
