import type { EditorTheme, MarkdownTheme, SelectListTheme } from "@earendil-works/pi-tui";

import type { ThemeName } from "../../runtime/theme-names.ts";
import { COLOURLESS, ending, type Palette, paletteOf } from "./palettes.ts";

type Paint = (text: string) => string;

/** Colours by what they mean. What was made with them changes with them: it asks for the code when it is drawn. */
export type Theme = {
  readonly name: ThemeName;
  use(name: ThemeName): void;
  dim: Paint;
  bold: Paint;
  accent: Paint;
  good: Paint;
  bad: Paint;
  warn: Paint;
  user: Paint;
  markdown: MarkdownTheme;
  editor: EditorTheme;
};

type Look = { hasColours: boolean; name?: ThemeName | undefined; env?: Readonly<Record<string, string | undefined>> };

export function makeTheme({ hasColours, name: first = "auto", env = {} }: Look): Theme {
  let name = first;
  const paletteNow = () => (hasColours ? paletteOf(name, env) : COLOURLESS);
  let palette = paletteNow();
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      text === "" ? "" : `\x1b[${open}m${text}\x1b[${close}m`;
  const role =
    (key: keyof Palette): Paint =>
    (text) => {
      const code = palette[key];
      return text === "" || code === undefined ? text : `\x1b[${code}m${text}\x1b[${ending(code)}m`;
    };
  const [bold, italic, underline, struck] = [paint(1, 22), paint(3, 23), paint(4, 24), paint(9, 29)];
  const [dim, accent, user, heading] = [role("dim"), role("accent"), role("user"), role("heading")];
  const selectList: SelectListTheme = {
    selectedPrefix: accent,
    selectedText: (text) => bold(accent(text)),
    description: dim,
    scrollInfo: dim,
    noMatch: dim,
  };
  return {
    get name() {
      return name;
    },
    use: (next) => {
      name = next;
      palette = paletteNow();
    },
    dim,
    bold,
    accent,
    good: role("good"),
    bad: role("bad"),
    warn: role("warn"),
    user,
    editor: { borderColor: (text) => text, selectList },
    markdown: {
      heading: (text) => bold(heading(text)),
      link: (text) => underline(user(text)),
      linkUrl: dim,
      code: accent,
      codeBlock: (text) => text,
      codeBlockBorder: dim,
      quote: italic,
      quoteBorder: dim,
      hr: dim,
      listBullet: accent,
      bold,
      italic,
      strikethrough: struck,
      underline,
    },
  };
}
