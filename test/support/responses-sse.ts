import type { ScriptedCall } from "./anthropic-sse.ts";

type ResponsesAnswer = {
  text?: string;
  /** A summary that is shown, and what only OpenAI can read. */
  reasoning?: { id: string; summary: string; encrypted: string };
  calls?: readonly (ScriptedCall | { id: string; name: string; json: string })[];
  refusal?: string;
  /** How it ends, if not completed. */
  incomplete?: string;
  usage?: Record<string, unknown>;
};

const USAGE = { input_tokens: 30, input_tokens_details: { cached_tokens: 20 }, output_tokens: 5 };

/** A whole answer of OpenAI's Responses as the wire carries it. */
export function responsesAnswer(answer: ResponsesAnswer): string {
  return frames(answer).map(frame).join("");
}

/** One that broke off in its text. */
export function responsesBeginning(text: string): string {
  return frames({ text }).slice(0, 4).map(frame).join("");
}

export function frame(document: Record<string, unknown>): string {
  return `event: ${document.type}\ndata: ${JSON.stringify(document)}\n\n`;
}

function frames({ text, reasoning, calls = [], refusal, incomplete, usage = USAGE }: ResponsesAnswer): Record<string, unknown>[] {
  const response = { id: "resp_1", object: "response", status: "in_progress", error: null, output: [] };
  const list: Record<string, unknown>[] = [{ type: "response.created", response }];
  const output: unknown[] = [];
  const item = (begun: Record<string, unknown>, pieces: readonly Record<string, unknown>[], whole: Record<string, unknown>) => {
    const place = { output_index: output.length };
    list.push({ type: "response.output_item.added", ...place, item: begun });
    for (const piece of pieces) list.push({ ...piece, ...place, item_id: begun.id });
    list.push({ type: "response.output_item.done", ...place, item: whole });
    output.push(whole);
  };
  if (reasoning) {
    const { id, summary, encrypted } = reasoning;
    item({ type: "reasoning", id, summary: [] }, [{ type: "response.reasoning_summary_text.delta", summary_index: 0, delta: summary }], {
      type: "reasoning",
      id,
      summary: [{ type: "summary_text", text: summary }],
      encrypted_content: encrypted,
    });
  }
  for (const [type, words] of [
    ["output_text", text],
    ["refusal", refusal],
  ] as const) {
    if (words === undefined) continue;
    const half = Math.ceil(words.length / 2);
    const part = type === "refusal" ? { type, refusal: words } : { type, text: words };
    item(
      { type: "message", id: `msg_${type}`, role: "assistant", content: [] },
      [words.slice(0, half), words.slice(half)].map((delta) => ({ type: `response.${type}.delta`, content_index: 0, delta })),
      { type: "message", id: `msg_${type}`, role: "assistant", content: [part] },
    );
  }
  for (const call of calls) {
    const json = "json" in call ? call.json : JSON.stringify(call.input);
    const begun = { type: "function_call", id: `fc_${call.id}`, call_id: call.id, name: call.name, arguments: "" };
    const pieces = [json.slice(0, 5), json.slice(5)].map((delta) => ({ type: "response.function_call_arguments.delta", delta }));
    item(begun, [...pieces, { type: "response.function_call_arguments.done", arguments: json }], { ...begun, arguments: json });
  }
  const last = incomplete
    ? {
        type: "response.incomplete",
        response: { ...response, status: "incomplete", incomplete_details: { reason: incomplete }, output, usage },
      }
    : { type: "response.completed", response: { ...response, status: "completed", output, usage } };
  return [...list, last];
}
