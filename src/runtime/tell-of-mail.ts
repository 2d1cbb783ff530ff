import type { FireHook } from "../protocol/hook.ts";
import type { Envelope } from "../protocol/team.ts";

/** Hooks hear of each message that a model is about to read. */
export async function tellOfMail(envelopes: readonly Envelope[], fireHook: FireHook | undefined): Promise<void> {
  if (!fireHook) return;
  for (const { from, body } of envelopes) {
    const text = "text" in body ? body.text : body.type === "idle_notification" ? body.lastText : "";
    await fireHook({ event: "message_received", from, kind: body.type, text }, new AbortController().signal);
  }
}
