import type { ThemeName } from "../../runtime/theme-names.ts";

/** Codes of the terminal for what a colour means; what is absent stays as the text around it. */
export type Palette = { dim?: string; accent?: string; good?: string; bad?: string; warn?: string; user?: string; heading?: string };

/** The terminal's own sixteen: whoever chose them chose them to be read. */
const OWN: Palette = { dim: "2", accent: "36", good: "32", bad: "31", warn: "33", user: "34", heading: "35" };
export const COLOURLESS: Palette = { dim: "2" };
const LIGHT: Palette = {
  dim: "38;5;241",
  accent: "38;5;24",
  good: "38;5;28",
  bad: "38;5;124",
  warn: "38;5;94",
  user: "38;5;25",
  heading: "38;5;90",
};

const PALETTES: Readonly<Record<Exclude<ThemeName, "auto">, Palette>> = {
  dark: {
    dim: "38;5;245",
    accent: "38;5;117",
    good: "38;5;114",
    bad: "38;5;210",
    warn: "38;5;222",
    user: "38;5;111",
    heading: "38;5;183",
  },
  light: LIGHT,
  // Blue against orange: no pair of red and green, and to be told apart by their brightness too.
  daltonized: { dim: "2", accent: "38;5;37", good: "38;5;33", bad: "1;38;5;166", warn: "38;5;172", user: "38;5;33", heading: "1" },
  // Nothing fainter than the text, and what a colour says is said by its weight too.
  "high-contrast": { accent: "1", good: "1;32", bad: "1;31", warn: "7", user: "1", heading: "1;4" },
  none: COLOURLESS,
};

/** `COLORFGBG` is what some terminals say of their background, without being asked. */
export function paletteOf(name: ThemeName, env: Readonly<Record<string, string | undefined>>): Palette {
  if (name !== "auto") return PALETTES[name];
  const background = env.COLORFGBG?.split(";").at(-1);
  return background === "7" || background === "15" ? LIGHT : OWN;
}

/** Ends what a code began and nothing else. */
export function ending(code: string): string {
  const parts = code.replace(/38;5;\d+/, "38").split(";");
  return parts.map((part) => ENDINGS[part] ?? "39").join(";");
}

const ENDINGS: Readonly<Record<string, string>> = { "1": "22", "2": "22", "4": "24", "7": "27" };
