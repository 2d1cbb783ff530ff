/** What a person said: the list of skills stands before the first words. */
export function said(text = ""): string {
  return text.replace(/^<system-reminder>Skills: [\s\S]*?<\/system-reminder>\s*/, "");
}
