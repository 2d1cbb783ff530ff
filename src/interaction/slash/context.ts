import type { SlashCommand } from "./command.ts";

export const contextCommand: SlashCommand = {
  name: "context",
  type: "local",
  describe: "What fills the window",
  anyTime: true,
  async run(_argument, { session, print }) {
    const report = session.agent.report();
    if (!report) return undefined;
    const { window, used, trigger, parts } = report;
    const width = Math.max(...parts.map(({ name }) => name.length)) + 2;
    const row = (name: string, tokens: number) => `  ${name.padEnd(width)}${String(tokens).padStart(9)}  ${percent(tokens, window)}`;
    print(
      [
        `Context: about ${used} of ${window} tokens (${percent(used, window)}); a summary takes its place at ${trigger}.`,
        ...parts.map(({ name, tokens }) => row(name, tokens)),
      ].join("\n"),
    );
    return undefined;
  },
};

function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`;
}
