import { spawn } from "node:child_process";
import { mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { type IncomingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { fakeModel } from "../support/fake-model.ts";
import { childEnvironment, type TestHome, testHome } from "../support/home.ts";
import { browserDescribe, openBrowser, openPage } from "../support/in-browser.ts";
import { startTeam } from "../support/running-team.ts";

const LONG = 90_000;
const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);
const SECTIONS = ["Members", "Timeline", "Tasks", "Messages", "Merges and conflicts", "Files", "Tokens and cost", "Permission decisions"];

const demoPlan = async () => JSON.parse(await readFile(new URL("../../src/interaction/demo/demo-plan.json", import.meta.url), "utf8"));
const flags = ["-p", "--backend", "process", "--check", "node --test"];

/** The demo's team, over. */
async function demoTeam(home: TestHome): Promise<void> {
  await using model = await fakeModel({ plan: await demoPlan() });
  const ran = await home.roocode(["team", ...flags, "--name", "demo", "Harden the auth module"], {
    env: model.env("anthropic"),
    timeoutMs: LONG,
  });
  expect(ran.code, ran.stderr).toBe(0);
}

let home: TestHome;
beforeAll(async () => {
  home = await testHome();
  await demoTeam(home);
}, LONG);
afterAll(() => home[Symbol.asyncDispose]());

test("the report goes whole into a new file, for its owner alone, and over an older one; a link to it stays", async () => {
  const file = join(home.home, "report.html");
  const written = await home.roocode(["team", "report", "demo", "--html", file]);
  expect([written.code, written.stdout]).toEqual([0, `Written to ${file}.\n`]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await symlink(file, join(home.home, "link.html"));
  const again = await home.roocode(["team", "report", "demo", "--html", join(home.home, "link.html"), "--json"]);
  expect(JSON.parse(again.stdout)).toEqual({ team: "demo", path: file });
  expect(await readFile(join(home.home, "link.html"), "utf8")).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
});

test("what is no place for a report is left alone, with one line that says why", async () => {
  const own = join(home.home, "own.html");
  await writeFile(own, "<h1>mine</h1>");
  await mkdir(join(home.home, "folder"));
  await symlink(join(home.home, "nowhere", "x"), join(home.home, "dangling"));
  const places: [string, string][] = [
    [own, "is there already and is no report of a team"],
    [join(home.home, "folder"), "is a folder"],
    ["/dev/null", "is no ordinary file"],
    [join(home.home, "missing", "x.html"), `the folder ${join(home.home, "missing")} is not there`],
    [join(own, "x.html"), `${own} is no folder`],
    [join(home.home, "x".repeat(300)), "(ENAMETOOLONG)"],
    ["", "--html needs a file"],
  ];
  for (const [file, why] of places) {
    const refused = await home.roocode(["team", "report", "demo", "--html", file]);
    expect([refused.code, refused.stderr.trimEnd().split("\n")]).toEqual([2, [expect.stringContaining(why)]]);
  }
  expect(await readFile(own, "utf8")).toBe("<h1>mine</h1>");
  const unknown = await home.roocode(["team", "report", "nobody", "--html", join(home.home, "x.html")]);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('There is no team "nobody".')]);
});

test("watch of a team that is over shows its last status and ends; there is no live page of it", async () => {
  const text = await home.roocode(["team", "watch", "demo"]);
  expect([text.code, text.stdout]).toEqual([0, expect.stringMatching(/^demo: Harden the auth module\nlead stopped/)]);
  const web = await home.roocode(["team", "watch", "demo", "--web"]);
  expect([web.code, web.stderr]).toEqual([2, expect.stringContaining("roocode team report demo --html report.html")]);
  const odd = await home.roocode(["team", "watch", "demo", "--web", "--port", "70000"]);
  expect([odd.code, odd.stderr]).toEqual([2, expect.stringContaining("--port is a whole number")]);
});

browserDescribe("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  }, LONG);
  afterAll(() => browser.close());

  test(
    "the report has its sections, asks for nothing, runs nothing, and fits on a narrow screen, in light and dark",
    async () => {
      const file = join(home.home, "page.html");
      await home.roocode(["team", "report", "demo", "--html", file]);
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of [1200, 400]) {
          await using opened = await openPage(browser, { colorScheme, viewport: { width, height: 800 }, javaScriptEnabled: width !== 400 });
          const { page, problems } = opened;
          const asked: string[] = [];
          page.on("request", (request) => asked.push(request.url()));
          await page.goto(pathToFileURL(file).href);
          expect(await page.locator("h2").allTextContents()).toEqual(SECTIONS);
          expect(asked).toHaveLength(1);
          expect(problems).toEqual([]);
          const box = await page.locator("html").evaluate((html) => [html.scrollWidth, html.clientWidth]);
          expect(box[0]).toBe(box[1]);
        }
    },
    LONG,
  );

  test(
    "the report tells of the run: who worked, what waits for what, the message's words, the conflict, the merges",
    async () => {
      const file = join(home.home, "facts.html");
      await home.roocode(["team", "report", "demo", "--html", file]);
      await using opened = await openPage(browser);
      const { page } = opened;
      await page.goto(pathToFileURL(file).href);
      const text = (id: string) => page.locator(`#${id}`).textContent();
      expect(await text("head")).toContain("4 of 4 completed");
      expect(await page.locator(".lanes").first().locator("tbody th").allTextContents()).toEqual(
        expect.arrayContaining(["alice", "bob", "carol", "lead", "integrator", "merges"]),
      );
      expect(await page.locator(".graph .wait").count()).toBe(3);
      expect(await text("messages")).toContain("createSession(user, { ttlMs }) from now on");
      expect(await text("merges")).toMatch(/Conflict in the merge of bob: src\/limits\.js/);
      expect(await text("merges")).toMatch(/Landed: branch main is at [0-9a-f]{8}/);
      // Members stand in the order in which they were ready.
      expect(await text("files")).toMatch(/Changed by more than one: src\/limits\.js \((alice, bob|bob, alice)\)/);
      // By keyboard: folded texts open, wide tables can be reached.
      await page.locator("#outcome summary").focus();
      await page.keyboard.press("Enter");
      expect(await page.locator("#outcome").getAttribute("open")).toBe("");
      expect(await page.locator(".scroll:not([tabindex='0'])").count()).toBe(0);
      expect(await page.locator("table:not(:has(caption))").count()).toBe(0);
    },
    LONG,
  );

  test(
    "the live page takes over what happens and leaves open what is open, in two browsers, until the team ends",
    async () => {
      await using live = await liveDemo();
      await using one = await openPage(browser);
      await one.page.goto(await live.url(0));
      await using two = await openPage(browser, { viewport: { width: 400, height: 800 } });
      await two.page.goto(await live.url(1));
      expect(one.page.url()).toBe(`http://127.0.0.1:${live.port()}/`);
      const early = await one.page.locator("#tasks-body").textContent();
      await one.page.locator("#about-1 summary").click();
      await eventually(async () => (await one.page.locator("#tasks-body").textContent()) !== early, LONG);
      expect(await one.page.locator("#about-1").getAttribute("open")).toBe("");
      expect(await one.page.locator("#about-1 summary:focus").count()).toBe(1);
      for (const { page } of [one, two])
        await eventually(async () => (await page.locator("#live").textContent()) === "The team has ended. This is its last state.", LONG);
      for (const { page, problems } of [one, two]) {
        expect(await page.locator("#head").textContent()).toMatch(/done \(exit 0\)[\s\S]*4 of 4 completed/);
        expect(problems).toEqual([]);
      }
      expect(await live.code()).toBe(0);
      expect(live.output()).toContain("The team has ended.");
    },
    2 * LONG,
  );
});

test(
  "a link opens once; without its cookie, under another name, by another method or from another site there is no answer",
  async () => {
    await using live = await liveDemo();
    const link = new URL(await live.url(0));
    const ask = (path: string, headers: Record<string, string> = {}, method = "GET") => asked(live.port(), path, headers, method);
    expect((await ask("/")).status).toBe(403);
    expect((await ask("/?token=wrong")).status).toBe(403);
    expect((await ask(`/${link.search}`, { host: `evil.example:${live.port()}` })).status).toBe(421);
    expect((await ask(`/${link.search}`, {}, "POST")).status).toBe(405);
    expect((await ask(`/${link.search}`, {}, "HEAD")).status).toBe(405);
    const opened = await ask(`/${link.search}`);
    expect([opened.status, opened.headers.location]).toEqual([303, "/"]);
    const [cookie = ""] = opened.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/);
    expect((await ask(`/${link.search}`)).status).toBe(403);
    const mine = { cookie: cookie.split(";")[0] ?? "" };
    const page = await ask("/", mine);
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({ "cache-control": "no-store", "x-frame-options": "DENY", "x-content-type-options": "nosniff" });
    expect(page.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(page.headers).not.toHaveProperty("access-control-allow-origin");
    expect((await ask("/", { ...mine, "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" })).status).toBe(403);
    expect((await ask("/../../etc/passwd", mine)).status).toBe(404);
    expect((await ask("//", mine)).status).toBe(400);
    expect((await ask("/", { cookie: mine.cookie.replace(/=.*/, "=guess") })).status).toBe(403);
    expect((await ask("/events", {})).status).toBe(403);
    // The next link is another one, and opens another browser.
    const next = new URL(await live.url(1));
    expect(next.search).not.toBe(link.search);
    expect((await ask(`/${next.search}`)).status).toBe(303);
    live.stop();
    expect(await live.code()).toBe(0);
  },
  LONG,
);

function asked(port: number, path: string, headers: Record<string, string>, method: string) {
  return new Promise<{ status: number | undefined; headers: IncomingHttpHeaders }>((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, method, headers: { host: `127.0.0.1:${port}`, ...headers } }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** The demo's team at work, and `team watch --web` beside it. */
async function liveDemo() {
  const own = await testHome();
  const model = await fakeModel({ plan: await demoPlan() }, { latencyMs: 200 });
  const team = startTeam(own, [...flags, "--name", "demo", "Harden the auth module"], model.env("anthropic"));
  await eventually(async () => (await own.roocode(["team", "status", "demo"])).stdout.includes("alice  busy"), LONG);
  const child = spawn(process.execPath, [BIN, "team", "watch", "demo", "--web"], { env: childEnvironment(own.home) });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const ended = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  const urls = () => output.match(/http:\/\/\S+/g) ?? [];
  return {
    url: async (index: number) => {
      await eventually(() => urls().length > index);
      return urls()[index] ?? "";
    },
    port: () => Number(new URL(urls()[0] ?? "").port),
    output: () => output,
    code: () => ended,
    stop: () => child.kill("SIGINT"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
      await team[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      await own[Symbol.asyncDispose]();
    },
  };
}
