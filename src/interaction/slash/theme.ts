import { THEME_NAMES, type ThemeName } from "../../runtime/theme-names.ts";
import type { SlashCommand } from "./command.ts";

const NOTES: Readonly<Record<ThemeName, string>> = {
  auto: "the terminal's own colours",
  dark: "soft colours for a dark background",
  light: "deep colours for a light background",
  daltonized: "blue and orange instead of green and red",
  "high-contrast": "nothing faint; bold and reversed",
  none: "no colours",
};

export const themeCommand: SlashCommand = {
  name: "theme",
  type: "local-ui",
  argument: `[${THEME_NAMES.join("|")}]`,
  describe: "Colours of the screen; kept in your settings",
  anyTime: true,
  async run(argument, { session, theme, pick, print }) {
    const { data, env } = session.surroundings;
    const items = THEME_NAMES.map((name) => ({
      label: name.padEnd(13),
      note: `${NOTES[name]}${name === theme?.name ? ", now" : ""}`,
      value: name,
    }));
    const chosen = argument === "" ? await pick("Which colours?", items) : THEME_NAMES.find((name) => name === argument);
    if (chosen === undefined) {
      if (argument !== "") print(`There is no theme "${argument}". Themes: ${THEME_NAMES.join(", ")}.`);
      return undefined;
    }
    theme?.use(chosen);
    const { changeYaml } = await import("../../platform/yaml-file.ts");
    await changeYaml(data.config, (document) => {
      document.set("theme", chosen);
      return true;
    });
    const unseen = env.NO_COLOR
      ? " NO_COLOR is set, so no colours show."
      : theme === undefined
        ? " This screen of lines has none to show."
        : "";
    print(`Theme ${chosen}, kept in ${data.config}.${unseen}`);
    return undefined;
  },
};
