import type { SlashCommand } from "./command.ts";

const NAME_WIDTH = 34;

export const helpCommand: SlashCommand = {
  name: "help",
  type: "local",
  describe: "This list",
  anyTime: true,
  async run(_argument, { session, print }) {
    const { slashCompletions } = await import("./completions.ts");
    const lines = (await slashCompletions(session)).map(({ name, argumentHint, description }) => {
      const typed = `/${name} ${argumentHint ?? ""}`.trimEnd();
      return typed.length < NAME_WIDTH ? `${typed.padEnd(NAME_WIDTH)}${description}` : `${typed}\n${" ".repeat(NAME_WIDTH)}${description}`;
    });
    print(lines.join("\n"));
    return undefined;
  },
};
