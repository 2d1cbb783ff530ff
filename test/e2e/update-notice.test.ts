import { chmod, cp, mkdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isNewer } from "../../src/interaction/update-notice.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel } from "../support/fake-model.ts";
import { childEnvironment, testHome } from "../support/home.ts";
import { tmuxSocket } from "../support/tmux-server.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname);

test.each([
  ["0.2.0", "0.1.0", true],
  ["0.10.0", "0.9.9", true],
  ["1.0.0", "0.9.9", true],
  ["0.1.0", "0.1.0", false],
  ["0.1.0", "0.2.0", false],
  ["1.0.0", "1.0.1", false],
])("%s is newer than %s: %s", (latest, current, is) => {
  expect(isNewer(latest, current)).toBe(is);
});

/** An installation with an npm that says 99.0.0 and keeps what it was asked. */
async function installed() {
  const home = await testHome({ "f.txt": "one\n" });
  const lib = join(home.home, "lib", "node_modules", "roocode");
  for (const part of ["bin", "dist", "agents", "commands", "skills", "package.json"])
    await cp(join(ROOT, part), join(lib, part), { recursive: true });
  const asked = join(home.home, "asked");
  const bin = join(home.home, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "npm"), `#!/bin/sh\necho "$PWD $*" >> ${asked}\necho '"99.0.0"'\n`);
  await chmod(join(bin, "npm"), 0o755);
  const model = await fakeModel(() => ({ text: "Done." }));
  const socket = await tmuxSocket();
  /** Starts a session in a terminal and gives what it shows. */
  const start = async (extra: Record<string, string> = {}) => {
    // The tmux server has the CI of whoever runs the tests.
    const env = { ...childEnvironment(home.home), ...model.env("anthropic"), CI: "", PATH: `${bin}:${process.env.PATH}`, ...extra };
    const settings = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    // The shell's own start may set another PATH.
    const command = `PATH=${env.PATH} ${process.execPath} ${join(lib, "bin", "roocode.js")}; exec sleep 1000`;
    const size = ["-x", "200", "-y", "30", "-c", home.repo];
    const pane = await socket.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", ...size, ...settings, command);
    const screen = () => socket.tmux("capture-pane", "-p", "-J", "-t", pane);
    await eventually(async () => /^> ?$/m.test(await screen()), 30_000);
    return screen();
  };
  return {
    home,
    start,
    asked: async () => (await readFile(asked, "utf8").catch(() => "")).trim().split("\n").filter(Boolean),
    state: join(home.data, "update-check.json"),
    async [Symbol.asyncDispose]() {
      await socket[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

test("a newer version is asked for in the background, once a day, and said at the next start", async () => {
  await using own = await installed();
  expect(await own.start()).not.toContain("99.0.0");
  await eventually(async () => (await readFile(own.state, "utf8").catch(() => "")).includes("99.0.0"), 10_000);
  expect(await own.asked()).toEqual([expect.stringMatching(/\.roocode view roocode version --json /)]);

  expect(await own.start()).toContain("RooCode 99.0.0 is there, this is 0.1.0. npm install -g roocode updates it");
  expect(await own.asked()).toHaveLength(1);

  const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1000);
  await utimes(own.state, yesterday, yesterday);
  expect(await own.start({ NO_UPDATE_NOTIFIER: "1" })).not.toContain("99.0.0");
  expect(await own.start({ CI: "true" })).not.toContain("99.0.0");
  await writeFile(join(own.home.data, "config.yaml"), "update_check: false\n");
  expect(await own.start()).not.toContain("99.0.0");
  expect((await stat(own.state)).mtimeMs).toBeLessThan(yesterday.getTime() + 1000);
  expect(await own.asked()).toHaveLength(1);
}, 120_000);

test("print mode and a checkout never ask", async () => {
  await using own = await installed();
  await using model = await fakeModel(() => ({ text: "Done." }));
  const run = await own.home.roocode(["-p", "x"], { env: { ...model.env("anthropic"), PATH: `${own.home.home}/bin:${process.env.PATH}` } });
  expect(run.code).toBe(0);
  await expect(stat(own.state)).rejects.toThrow("ENOENT");
});
