import type { SlashCommand } from "./command.ts";

const NAME_WIDTH = 34;

/** `commands`: the registry's, this one among them. */
export const helpCommand = (commands: () => readonly SlashCommand[]): SlashCommand => ({
  name: "help",
  type: "local",
  describe: "This list",
  anyTime: true,
  async run(_argument, { session, print }) {
    const { slashCompletions } = await import("./completions.ts");
    const lines = (await slashCompletions(commands(), session)).map(({ name, argumentHint, description }) => {
      const typed = `/${name} ${argumentHint ?? ""}`.trimEnd();
      return typed.length < NAME_WIDTH ? `${typed.padEnd(NAME_WIDTH)}${description}` : `${typed}\n${" ".repeat(NAME_WIDTH)}${description}`;
    });
    print(lines.join("\n"));
    return undefined;
  },
});
