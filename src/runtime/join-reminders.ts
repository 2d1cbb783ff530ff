/** Reminders as one text; undefined for none. */
export function joinReminders(...parts: (string | undefined)[]): string | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length === 0 ? undefined : known.join("\n\n");
}
