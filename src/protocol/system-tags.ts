/** Tags by which RooCode itself speaks to a model, a compacted conversation's included. */
const SYSTEM_TAG =
  /<(?=[\s/]*(?:system-reminder|teammate-message|task-notification|user-words|conversation-summary|conversation-transcript|last-rounds|file-content)\b)/gi;

/** Text that can't open or close a tag by which the system speaks. Nothing else is changed. */
export function escapeSystemTags(text: string): string {
  return text.replace(SYSTEM_TAG, "&lt;");
}
