const NAMES =
  "system-reminder|teammate-message|task-notification|user-words|conversation-summary|conversation-transcript|last-rounds|file-content";
/** Tags by which RooCode itself speaks to a model, a compacted conversation's included. */
const SYSTEM_TAG = new RegExp(`<(?=[\\s/]*(?:${NAMES})\\b)`, "gi");
const ESCAPED_TAG = new RegExp(`&lt;(?=[\\s/]*(?:${NAMES})\\b)`, "gi");

/** Text that can't open or close a tag by which the system speaks. Nothing else is changed. */
export function escapeSystemTags(text: string): string {
  return text.replace(SYSTEM_TAG, "&lt;");
}

/** What a model that copies from an escaped text means. */
export function unescapeSystemTags(text: string): string {
  return text.replace(ESCAPED_TAG, "<");
}
