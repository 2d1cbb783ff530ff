import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toAscii } from "../../src/interaction/ascii-output.ts";
import { speaksUtf8 } from "../../src/interaction/locale.ts";
import { fakeModel } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { openRepl } from "../support/repl.ts";

test.each([
  [{}, true],
  [{ LANG: "de_DE.UTF-8" }, true],
  [{ LANG: "C.utf8" }, true],
  [{ LC_CTYPE: "UTF-8" }, true],
  [{ LC_ALL: "C", LANG: "de_DE.UTF-8" }, false],
  [{ LC_ALL: "", LANG: "POSIX" }, false],
  [{ LANG: "de_DE.ISO-8859-1" }, false],
])("the locale %j shows UTF-8: %s", (env, is) => {
  expect(speaksUtf8(env)).toBe(is);
});

test("marks have a likeness in ASCII, accents fall off, the rest is a question mark", () => {
  expect(toAscii("● Reading… café → 中 😀")).toBe("* Reading... cafe -> ? ?");
});

test("on a terminal without UTF-8 the screen is lines in ASCII", async () => {
  await using repl = await openRepl(
    ({ rounds }) => (rounds === 0 ? { calls: [{ name: "Glob", input: { pattern: "*.md" } }] } : { text: "Größe → 3" }),
    {
      env: { LC_ALL: "C", ROOCODE_SCREEN: "auto", TERM: "xterm" },
      first: "/help lists commands",
    },
  );
  await repl.type("go");
  await repl.sees("Grosse -> 3");
  expect(await repl.screen()).toContain("* Glob(");
  expect(await repl.screen()).not.toMatch(/[^\0-\x7f]/);
});

test.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)(
  "a HOME that can't be written to is one line, with its mend",
  async () => {
    await using home = await testHome({ "f.txt": "one\n" });
    await using model = await fakeModel(() => ({ text: "Done." }));
    const readOnly = join(home.home, "read-only");
    await mkdir(readOnly);
    await chmod(readOnly, 0o555);
    // Root may write anywhere: another user may not.
    await chmod(join(home.home, ".."), 0o755);
    const run = await home.roocode(["-p", "x"], {
      env: { ...model.env("anthropic"), HOME: readOnly },
      through: ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
    });
    expect(run).toMatchObject({ code: 0, stdout: "Done.\n" });
    expect(run.stderr.trim().split("\n")).toEqual([
      expect.stringMatching(/can't be written to\. Set HOME to .* Nothing of a session is kept/),
    ]);
  },
);
