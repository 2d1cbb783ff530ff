import { type ChildProcess, spawn } from "node:child_process";
import { appendFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { toLine } from "../../src/memory/entry-line.ts";
import { gitText } from "../../src/platform/git.ts";
import type { SessionEntry } from "../../src/protocol/session.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel, PROTOCOLS } from "../support/fake-model.ts";
import { childEnvironment, type TestHome, testHome } from "../support/home.ts";
import { assertSessionLegal } from "../support/proxy.ts";
import { said } from "../support/said.ts";
import { answer, at, calls, result, roundEnd, user } from "../support/session-entries.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);
const FILES = { "a.txt": "a\n" };
const talker = () => fakeModel(({ steps }) => ({ text: `Answer ${steps.length}.` }));
const idOf = (path: string) => basename(path, ".jsonl");

async function onlySession(home: TestHome): Promise<string> {
  const [path, ...others] = await home.sessions();
  if (path === undefined || others.length > 0) throw new Error("There is not exactly one session.");
  return path;
}

/** A session file of this project that a test wrote, large or broken. */
async function planted(home: TestHome, content: string | Uint8Array, id = "planted"): Promise<string> {
  const path = join(dirname(await onlySession(home)), `${id}.jsonl`);
  await writeFile(path, content);
  return path;
}

test.each(PROTOCOLS)(
  "S-01, S-04: a torn last record costs one notice; the turn after it is there the next time, over %s",
  async (protocol) => {
    await using model = await talker();
    await using home = await testHome(FILES);
    const env = model.env(protocol);
    await home.roocode(["-p", "one"], { env });
    const path = await onlySession(home);
    await home.roocode(["-p", "-c", "two"], { env });
    await truncate(path, (await stat(path)).size - 20);
    const third = await home.roocode(["-p", "--resume", idOf(path).slice(0, 8), "three"], { env });
    expect(third).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Skipped a damaged line[^\n]*\n$/) });
    await appendFile(path, '{"type":"x","a":1');
    expect(await home.roocode(["-p", "-c", "four"], { env })).toMatchObject({ code: 0 });
    await home.roocode(["-p", "-c", "five"], { env });
    const last = model.requests.at(-1)?.steps.map((step) => (step.type === "words" ? said(step.text) : ""));
    expect(last).toEqual(expect.arrayContaining(["one", "two", "three", "four", "five"]));
    model.proxy.assertLegal();
  },
);

test("what is refused at the start leaves no session behind that -c would go on with", async () => {
  await using model = await talker();
  await using home = await testHome(FILES);
  const env = model.env("anthropic");
  for (const args of [["--model"], ["--fallback-model"]])
    expect(await home.roocode(["-p", "--max-cost", "1", ...args, "nobody-knows-it", "one"], { env })).toMatchObject({ code: 2 });
  expect(await home.sessions()).toEqual([]);
});

test("a session goes on with the model that answered last, but not with one that only stood in", async () => {
  await using model = await talker();
  await using home = await testHome(FILES);
  const env = model.env("anthropic");
  await home.roocode(["-p", "one"], { env });
  await home.roocode(["-p", "-c", "--model", "claude-haiku-4-5", "two"], { env });
  await home.roocode(["-p", "-c", "three"], { env });
  await home.roocode(["-p", "-c", "--fallback-model", "claude-haiku-4-5", "four"], { env });
  const [first, ...later] = model.proxy.captures.map(({ body }) => JSON.parse(body).model);
  expect(later).toEqual(["claude-haiku-4-5", "claude-haiku-4-5", first]);
});

test.each(PROTOCOLS)(
  "C-01: killed while a tool runs a session goes on: the call has an honest result, the person is told, over %s",
  async (protocol) => {
    await using home = await testHome(FILES);
    await using model = await fakeModel(({ steps }) =>
      steps.length === 1
        ? { calls: [{ name: "Bash", input: { command: `echo $$ > ${home.repo}/pid; exec sleep 100` } }] }
        : { text: "Fine." },
    );
    const env = model.env(protocol);
    const killed = start(home, ["-p", "wait for me", "--permission-mode", "bypassPermissions"], env);
    await eventually(async () => /\d\n/.test(await readFile(join(home.repo, "pid"), "utf8").catch(() => "")));
    const sleeper = Number(await readFile(join(home.repo, "pid"), "utf8"));
    try {
      await kill(killed);
      const resumed = await home.roocode(["-p", "-c", "go on"], { env });
      expect(resumed).toMatchObject({ code: 0, stdout: "Fine.\n", stderr: expect.stringContaining("exec sleep 100") });
      const steps = model.requests.at(-1)?.steps ?? [];
      expect(steps.map((step) => (step.type === "words" ? said(step.text) : step.result))).toEqual([
        "wait for me",
        expect.stringContaining("may have taken effect"),
        expect.stringContaining("[This turn ended"),
        "go on",
      ]);
      model.proxy.assertLegal();
      await assertSessionLegal(await onlySession(home));
    } finally {
      process.kill(sleeper, "SIGKILL");
    }
  },
);

test.each(PROTOCOLS)(
  "S-05: a second process is refused or takes a copy; a dead owner's session is taken over, over %s",
  async (protocol) => {
    let answerNow = true;
    await using model = await fakeModel(async ({ steps }) => {
      if (steps.some((step) => step.type === "words" && step.text.endsWith("slow"))) await eventually(() => answerNow);
      return { text: `Answer ${steps.length}.` };
    });
    await using home = await testHome(FILES);
    const env = model.env(protocol);
    await home.roocode(["-p", "one"], { env });
    const path = await onlySession(home);
    answerNow = false;
    const first = start(home, ["-p", "-c", "slow"], env);
    await eventually(() => model.requests.length === 2);

    const second = await home.roocode(["-p", "--resume", idOf(path), "other"], { env });
    expect(second).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(new RegExp(`pid ${first.pid}.*--fork-session`)) });
    const listed = JSON.parse((await home.roocode(["sessions", "list", "--json"])).stdout).sessions;
    expect(listed).toMatchObject([{ id: idOf(path), isRunning: true }]);
    const pruned = await home.roocode(["sessions", "prune", "--older-than", "0h", "--json"]);
    expect(JSON.parse(pruned.stdout).removed).toEqual([]);

    await kill(first);
    answerNow = true;
    const third = await home.roocode(["-p", "--resume", idOf(path), "third"], { env });
    expect(third).toMatchObject({ code: 0, stderr: "" });
    expect((await readdir(dirname(path))).filter((name) => name.includes(".lock"))).toEqual([]);
    await assertSessionLegal(path);
  },
);

test.each(PROTOCOLS)("S-14: a fork has its own file with a pointer to its parent, which stays byte for byte, over %s", async (protocol) => {
  await using model = await talker();
  await using home = await testHome(FILES);
  const env = model.env(protocol);
  await home.roocode(["-p", "one"], { env });
  await home.roocode(["-p", "-c", "two"], { env });
  const parent = await onlySession(home);
  const before = await readFile(parent);
  const forked = await home.roocode(["-p", "-c", "--fork-session", "three", "--output-format", "json"], { env });
  const id: string = JSON.parse(forked.stdout).session_id;
  expect(id).not.toBe(idOf(parent));
  await home.roocode(["-p", "--resume", id, "four"], { env });
  model.proxy.assertLegal();
  expect((await readFile(parent)).equals(before)).toBe(true);
  const copy = join(dirname(parent), `${id}.jsonl`);
  expect(JSON.parse((await readFile(copy, "utf8")).split("\n")[0] ?? "")).toMatchObject({ id, parent: idOf(parent) });
  await home.roocode(["-p", "--resume", idOf(parent), "other"], { env });
  const heard = model.requests.slice(-2).map(({ steps }) => steps.filter((step) => step.type === "words" && step.from === "user"));
  expect(heard.map((steps) => steps.map((step) => (step.type === "words" ? said(step.text) : "")))).toEqual([
    ["one", "two", "three", "four"],
    ["one", "two", "other"],
  ]);
  expect(await home.roocode(["-p", "--fork-session", "x"], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--resume"),
  });
});

test("S-07: on a full disk the work goes on with one warning, and the result says what is missing", async () => {
  await using model = await fakeModel(({ steps }) =>
    steps.length < 10 ? { calls: [{ name: "ReadFile", input: { path: "big.txt", offset: steps.length } }] } : { text: "Done." },
  );
  await using home = await testHome({ "big.txt": `${"x".repeat(1000)}\n`.repeat(20) });
  const run = await home.roocode(["-p", "read", "--output-format", "json"], {
    env: model.env("anthropic"),
    through: ["bash", "-c", 'ulimit -f 64; exec "$@"', "bash"],
  });
  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({ result: "Done.", unsaved_entries: expect.any(Number) });
  expect(run.stderr.match(/can't be saved/g)).toHaveLength(1);
  expect(run.stderr).toContain("was not saved whole");
  await assertSessionLegal(await onlySession(home));
});

test("S-08: of a large session only what follows its last compaction comes into memory", async () => {
  await using model = await talker();
  await using home = await testHome(FILES);
  const env = model.env("anthropic");
  await home.roocode(["-p", "one"], { env });
  const first = (await readFile(await onlySession(home), "utf8")).split("\n")[0] ?? "";
  const turn = (index: number) => [
    user(`q${index}`),
    calls(`c${index}`),
    result(`c${index}`, "z".repeat(60_000)),
    roundEnd(),
    answer("done"),
  ];
  const compaction: SessionEntry = {
    type: "compaction",
    at,
    history: [{ role: "user", content: [{ type: "text", text: "SUMMARY" }] }],
    trigger: "auto",
    mode: "suffix",
    tokensBefore: 2,
    tokensAfter: 1,
  };
  const lines = [
    ...Array.from({ length: 1_200 }, (_, index) => turn(index)).flat(),
    compaction,
    ...Array.from({ length: 5 }, (_, index) => turn(9_000 + index)).flat(),
  ];
  await planted(home, `${first}\n${lines.map(toLine).join("")}`);
  const started = performance.now();
  // Half of the file would not fit.
  const run = await home.roocode(["-p", "--resume", "planted", "go on"], { env: { ...env, NODE_OPTIONS: "--max-old-space-size=48" } });
  expect(run).toMatchObject({ code: 0 });
  expect(performance.now() - started).toBeLessThan(10_000);
  expect(model.requests.at(-1)?.steps[0]).toMatchObject({ text: "SUMMARY" });
  expect(model.proxy.refused).toEqual([]);
});

test("S-10: projects whose paths look alike each find their own session", async () => {
  await using model = await talker();
  await using home = await testHome(FILES);
  const env = model.env("anthropic");
  const long = "x".repeat(240);
  const folders = ["a_b", "a-b", "a.b", "a b", "甲", "乙", `${long}1`, `${long}2`].map((name) => join(home.home, name));
  for (const folder of folders) {
    await mkdir(folder);
    await home.roocode(["-p", `I am ${basename(folder)}`], { env, cwd: folder });
  }
  for (const folder of folders) {
    await home.roocode(["-p", "-c", "who?"], { env, cwd: folder });
    const [first] = model.requests.at(-1)?.steps ?? [];
    expect(first?.type === "words" && said(first.text)).toBe(`I am ${basename(folder)}`);
  }
});

test("S-11: where the folder of a session is gone, a person goes on here with a notice; -p is an error that names a way", async () => {
  await using model = await talker();
  await using home = await testHome(FILES);
  const env = model.env("openai");
  const worktree = join(home.home, "wt");
  await gitText(home.repo, ["worktree", "add", "--quiet", worktree]);
  await home.roocode(["-p", "one"], { env, cwd: worktree });
  const id = idOf(await onlySession(home));
  await rm(worktree, { recursive: true });

  const printed = await home.roocode(["-p", "--resume", id, "two"], { env });
  expect(printed).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(worktree) });
  const talked = await home.roocode(["--resume", id], { env, input: "two\n/exit\n" });
  expect(talked).toMatchObject({ code: 0, stdout: expect.stringContaining(`is gone: ${worktree}. It goes on in ${home.repo}`) });
  expect(JSON.stringify(model.requests.at(-1)?.steps)).toContain(`You work in ${home.repo}`);
  const copied = await home.roocode(["-p", "--resume", id, "--fork-session", "three"], { env });
  expect(copied).toMatchObject({ code: 0 });
});

test("S-12: an empty file, an image, a folder and a JSON array are no sessions, and stay as they are", async () => {
  await using model = await talker();
  await using home = await testHome(FILES);
  const env = model.env("anthropic");
  await home.roocode(["-p", "one"], { env });
  const good = await onlySession(home);
  const foreign: Record<string, Uint8Array> = {
    empty: new Uint8Array(),
    image: Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
    array: Buffer.from('[{"type":"header"}]\n'),
  };
  for (const [id, bytes] of Object.entries(foreign)) await writeFile(join(dirname(good), `${id}.jsonl`), bytes);
  await mkdir(join(dirname(good), "folder.jsonl"));
  for (const id of [...Object.keys(foreign), "folder"]) {
    const run = await home.roocode(["-p", "--resume", id, "two"], { env });
    expect(run, id).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/no session to go on with/) });
  }
  for (const [id, bytes] of Object.entries(foreign)) expect((await readFile(join(dirname(good), `${id}.jsonl`))).equals(bytes)).toBe(true);
  expect(await home.roocode(["-p", "-c", "two"], { env })).toMatchObject({ code: 0 });
  expect(model.requests).toHaveLength(2);
});

test("S-13: a session with a first prompt of 40 KB, and one with only an image, are listed and gone on with by id", async () => {
  await using model = await talker();
  await using home = await testHome(FILES);
  const env = model.env("anthropic");
  await home.roocode(["-p"], { env, input: `${"word ".repeat(8_000)}` });
  const first = (await readFile(await onlySession(home), "utf8")).split("\n")[0] ?? "";
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const image: SessionEntry = {
    type: "message",
    at,
    message: { role: "user", content: [{ type: "image", mediaType: "image/png", data: pixel }] },
  };
  await planted(home, `${first}\n${toLine(image)}${toLine(answer("A dot."))}`, "image");
  const { sessions } = JSON.parse((await home.roocode(["sessions", "list", "--json"])).stdout);
  expect(sessions.map((one: { firstPrompt: string }) => one.firstPrompt.slice(0, 10)).sort()).toEqual(["[image]", "word word "]);
  for (const { id } of sessions) expect(await home.roocode(["-p", "--resume", id, "go on"], { env })).toMatchObject({ code: 0 });
});

test.each(PROTOCOLS)("R-09: a separator of lines in a file's text survives the session, over %s", async (protocol) => {
  await using model = await fakeModel(({ steps, rounds }) =>
    rounds === 0 ? { calls: [{ name: "ReadFile", input: { path: "s.txt" } }] } : { text: `Answer ${steps.length}.` },
  );
  await using home = await testHome({ "s.txt": "a\u2028b\n" });
  const env = model.env(protocol);
  await home.roocode(["-p", "read"], { env });
  await home.roocode(["-p", "-c", "again"], { env });
  const path = await onlySession(home);
  expect(await readFile(path, "utf8")).not.toContain("\u2028");
  expect(JSON.stringify(model.requests.at(-1)?.steps)).toContain("a\u2028b");
  model.proxy.assertLegal();
});

test("sessions are shown, named, copied, exported, searched and removed by the beginning of their id", async () => {
  await using model = await talker();
  await using home = await testHome(FILES);
  const env = model.env("anthropic");
  await home.roocode(["-p", "find the <b>Needle</b>"], { env });
  const path = await onlySession(home);
  const id = idOf(path);
  const short = id.slice(0, 6);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.roocode(["sessions", ...args]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    return stdout;
  };
  await run("rename", short, "my", "search");
  expect(JSON.parse(await run("show", short, "--json"))).toMatchObject({
    id,
    name: "my search",
    isRunning: false,
    history: [{ role: "user" }, {}],
  });
  expect(await run("show", short)).toContain("find the");
  expect(await run("search", "needle")).toContain("user: find the <b>Needle</b>");
  expect(await run("export", short)).toContain("# my search");
  const page = join(home.home, "page.html");
  await run("export", short, "--format", "html", "--output", page);
  expect(await readFile(page, "utf8")).toContain("&lt;b&gt;Needle&lt;/b&gt;");
  expect(await home.roocode(["sessions", "export", short, "--output", page])).toMatchObject({ code: 2 });
  const { id: copy } = JSON.parse(await run("fork", short, "--name", "second", "--json"));
  expect(await run("list")).toMatch(new RegExp(`"second" find the.*fork of ${id.slice(0, 8)}`));
  expect(await home.roocode(["sessions", "search", "haystack"])).toMatchObject({ code: 1 });

  await appendFile(path, `${JSON.stringify({ type: "name", at: "2020-01-01T00:00:00.000Z", name: "old" })}\n`);
  await mkdir(path.replace(/\.jsonl$/, ".results"));
  // What a living fork came from stays.
  expect(await run("prune", "--older-than", "30d", "--dry-run")).toContain("No session is older");
  await appendFile(
    join(dirname(path), `${copy}.jsonl`),
    `${JSON.stringify({ type: "name", at: "2020-01-01T00:00:00.000Z", name: "old" })}\n`,
  );
  expect(await run("prune", "--older-than", "30d", "--dry-run")).toContain(`would remove  ${id}`);
  expect(await run("prune", "--older-than", "30d")).toContain(`removed  ${id}`);
  expect(await readdir(dirname(path))).toEqual([]);
});

function start(home: TestHome, args: readonly string[], env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [BIN, ...args], { cwd: home.repo, env: { ...childEnvironment(home.home), ...env }, stdio: "ignore" });
}

function kill(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}
