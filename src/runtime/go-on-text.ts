/** The message of the system by which an agent goes on that a hook would not let end. */
export function goOnText(event: "stop" | "subagent_stop" | "teammate_idle", reason: string): string {
  return `<system-reminder>\nA hook of ${event} does not let you end yet:\n${reason}\nGo on until that is settled.\n</system-reminder>`;
}
