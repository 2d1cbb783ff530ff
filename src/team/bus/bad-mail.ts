/** A message that was set aside, with the reason; `file` is where it lies. `from` where the sender is proven. */
export type BadMail = { file: string; reason: string; from?: string };

/** The largest message; a longer text travels as an artifact. */
export const MAX_MESSAGE_BYTES = 256 * 1024;
