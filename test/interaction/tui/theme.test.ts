import { expect, test } from "vitest";
import { makeTheme } from "../../../src/interaction/tui/theme.ts";
import { THEME_NAMES } from "../../../src/runtime/theme-names.ts";
import { fullScreen } from "../../support/full-screen.ts";

/** What each colour begins and ends. */
const looks = (theme: ReturnType<typeof makeTheme>) =>
  (["dim", "accent", "good", "bad", "warn", "user"] as const).map((key) => theme[key]("x")).join(" ");

test("a theme of another name changes what stands on the screen already, answers in Markdown too", async () => {
  using shown = fullScreen({ theme: makeTheme({ hasColours: true }) });
  const { screen, terminal } = shown;
  screen.event({ type: "stream_text", text: "Use `tabs` here.\n\nAnd `more`." });
  screen.event({ type: "message", message: { role: "assistant", provider: "p", model: "m", content: [] } });
  await terminal.settled();
  expect(terminal.output).toContain("\x1b[36mtabs");
  terminal.output = "";
  screen.theme.use("dark");
  expect(await terminal.text()).toMatch(/^Use tabs here\.\n\nAnd more\./);
  expect(terminal.output).toContain("\x1b[38;5;117mtabs");
  expect(terminal.output).toContain("\x1b[38;5;117mmore");
  expect(terminal.output).not.toContain("\x1b[36m");
});

test("every theme ends what it began, so that no colour runs on", () => {
  const codes: Readonly<Record<string, string>> = { "1": "22", "2": "22", "4": "24", "7": "27" };
  for (const name of THEME_NAMES)
    for (const [, begin = "", end = ""] of looks(makeTheme({ hasColours: true, name })).matchAll(/\x1b\[([\d;]+)mx\x1b\[([\d;]+)m/g)) {
      const wanted = begin.replace(/38;5;\d+/, "38").split(";");
      expect(end.split(";"), `${name} ${begin}`).toEqual(wanted.map((code) => codes[code] ?? "39"));
    }
});

test("NO_COLOR holds against every theme, and auto takes deeper colours on a background that says that it is light", () => {
  for (const name of THEME_NAMES) expect(looks(makeTheme({ hasColours: false, name }))).toBe("\x1b[2mx\x1b[22m x x x x x");
  const auto = (COLORFGBG: string) => looks(makeTheme({ hasColours: true, env: { COLORFGBG } }));
  expect(auto("0;15")).toBe(looks(makeTheme({ hasColours: true, name: "light" })));
  expect(auto("15;0")).toBe(looks(makeTheme({ hasColours: true })));
});

test("high-contrast has nothing faint, and daltonized no pair of red and green", () => {
  expect(looks(makeTheme({ hasColours: true, name: "high-contrast" }))).not.toMatch(/\x1b\[2m/);
  expect(looks(makeTheme({ hasColours: true, name: "daltonized" }))).not.toMatch(/\x1b\[(?:[\d;]*;)?3[12]m/);
});
