import { type Instructions, instructionsReminder } from "../memory/instructions.ts";
import type { UserMessage } from "../protocol/message.ts";

/** The message that begins a conversation: the instruction files, then the words. */
export function firstMessage(text: string, instructions: Instructions | undefined): UserMessage {
  const reminder = instructions ? [{ type: "text" as const, text: instructionsReminder(instructions.text) }] : [];
  return { role: "user", content: [...reminder, { type: "text", text }] };
}
