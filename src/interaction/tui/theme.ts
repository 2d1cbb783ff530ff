import type { EditorTheme, MarkdownTheme, SelectListTheme } from "@earendil-works/pi-tui";

type Paint = (text: string) => string;

/** Colours by what they mean. Of the terminal's own sixteen, so that they suit a dark and a light one. */
export type Theme = {
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

export function makeTheme(hasColours: boolean): Theme {
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      text === "" ? "" : `\x1b[${open}m${text}\x1b[${close}m`;
  const colour = (code: number): Paint => (hasColours ? paint(code, 39) : (text) => text);
  const [bold, dim, italic, underline, struck] = [paint(1, 22), paint(2, 22), paint(3, 23), paint(4, 24), paint(9, 29)];
  const [red, green, yellow, blue, magenta, cyan] = [colour(31), colour(32), colour(33), colour(34), colour(35), colour(36)];
  const selectList: SelectListTheme = {
    selectedPrefix: cyan,
    selectedText: (text) => bold(cyan(text)),
    description: dim,
    scrollInfo: dim,
    noMatch: dim,
  };
  return {
    dim,
    bold,
    accent: cyan,
    good: green,
    bad: red,
    warn: yellow,
    user: blue,
    editor: { borderColor: (text) => text, selectList },
    markdown: {
      heading: (text) => bold(magenta(text)),
      link: (text) => underline(blue(text)),
      linkUrl: dim,
      code: cyan,
      codeBlock: (text) => text,
      codeBlockBorder: dim,
      quote: italic,
      quoteBorder: dim,
      hr: dim,
      listBullet: cyan,
      bold,
      italic,
      strikethrough: struck,
      underline,
    },
  };
}
