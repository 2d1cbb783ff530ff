import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PERMISSION_MODES } from "../../src/protocol/permission.ts";
import { tmuxDescribe } from "../support/in-tmux.ts";
import { injectionCases } from "../support/injection/case.ts";
import { decisionOf, needsPane, type Played, play, playHeadless } from "../support/injection/play.ts";

const LONG = 120_000;
const CASES = injectionCases();

/** A body as a provider reads it, or what a case expects. */
type Body = ReturnType<typeof JSON.parse>;
type Check = (played: Played, wanted: Body) => void | Promise<void>;

/** One for each key of `expect`. A key without one is reported as skipped and fails the count below. */
const CHECKS: Record<string, Check> = {
  decisions: ({ audit }, wanted) => expect(audit.map(decisionOf)).toEqual(wanted),
  subDecisions: ({ audit }, wanted) => expect(audit.filter(({ agent }) => agent === "fixer").map(decisionOf)).toEqual(wanted),
  trustPrompt: ({ trustPrompt }, { shown, lists = [] }) => {
    expect(trustPrompt !== undefined).toBe(shown);
    for (const text of lists) expect(trustPrompt).toContain(text);
  },
  whenHumanSays: ({ trustPrompt, refused }, wanted) => {
    expect(wanted).toBe("no");
    expect(refused + (trustPrompt === undefined ? 0 : 1)).toBeGreaterThan(0);
  },
  absent: (_, paths) => expect(paths.filter((path: string) => existsSync(path))).toEqual([]),
  absentInHome: ({ place }, paths) => expect(paths.filter((path: string) => existsSync(join(place.home, path)))).toEqual([]),
  headless: async (played, wanted) => {
    expect(wanted).toBe("hooks of an untrusted folder never run");
    expect(await playHeadless(played)).toContain("This folder is not trusted");
    expect((await readdir(played.place.top)).filter((name) => name.startsWith("owned"))).toEqual([]);
  },
  sinkRequests: ({ place }, wanted) => expect(place.sink.requests).toBe(wanted),
  loopContinues: ({ model, place }, wanted) =>
    expect(model.proxy.captures.length === place.given.model.filter((turn) => turn !== "LIST_CHANGED").length).toBe(wanted),
  toolResultIsError: ({ model }, wanted) => expect(resultsOf(model).map(({ is_error }) => is_error === true)).toEqual(wanted),
  canary: ({ place }, wanted) =>
    expect(Object.values({ ...place.given.files, ...place.given.home }).some((text) => text.includes(wanted))).toBe(true),
  canaryAbsentFrom: async ({ place, model, output }, places) => {
    const canary = String(place.given.expect.canary);
    expect(places.filter((name: string) => name !== "log" && name !== "modelRequests")).toEqual([]);
    if (places.includes("modelRequests")) expect(model.proxy.captures.filter(({ body }) => body.includes(canary))).toEqual([]);
    expect(output).not.toContain(canary);
    expect((await filesBelow(place.data)).filter(({ text }) => text.includes(canary)).map(({ name }) => name)).toEqual([]);
  },
  notices: ({ output }, wanted) => expect(output.split("\n").filter((line) => line.includes("is left out"))).toHaveLength(wanted),
  startsAnyway: ({ exitCode, model }, wanted) => expect(exitCode === 0 && model.proxy.captures.length > 0).toBe(wanted),
  memoryUsed: ({ model }, wanted) => {
    for (const [file, isUsed] of Object.entries(wanted))
      expect(model.proxy.captures[0]?.body.includes(file.replace(/\.md$/, "")) ?? true).toBe(isUsed);
  },
  notice: ({ output }, wanted) => expect(output).toContain(wanted),
  modelRequest: ({ model }, { toolResultContains, asDataOnly, noUserOrSystemMessageContains }) => {
    const results = resultsOf(model).map((result) => JSON.stringify(result.content));
    expect(results[0]).toContain(toolResultContains);
    expect(results[0]).toContain(noUserOrSystemMessageContains);
    expect(results.some((text) => /<\/?system-reminder/.test(text))).toBe(!asDataOnly);
    const { system, messages } = lastBody(model);
    const said = messages.flatMap(({ content }: Body) =>
      typeof content === "string" ? [content] : content.filter(({ type }: Body) => type === "text"),
    );
    expect(JSON.stringify([system, said])).not.toContain(noUserOrSystemMessageContains);
  },
  modeAfter: ({ audit }, wanted) => expect(audit.at(-1)?.reason).toMatch(new RegExp(`in mode ${wanted}\\b`)),
  toolNames: ({ model }, { bashIsBuiltIn }) => {
    const { tools } = lastBody(model);
    const named = tools.filter(({ name }: Body) => name === "Bash");
    expect(named).toHaveLength(1);
    expect(named[0].description.startsWith("runs") === false).toBe(bashIsBuiltIn);
    expect(tools.map(({ name }: Body) => name)).toContain("mcp__helper__add");
  },
  effectiveModeNotLooserThan: async ({ place }, wanted) => {
    const rosters = (await filesBelow(place.data)).filter(({ name }) => name.endsWith("team.json"));
    const modes = rosters.flatMap(({ text }) => JSON.parse(text).members.map((member: Body) => member.permissionMode));
    expect(modes.map((mode) => PERMISSION_MODES.indexOf(mode) <= PERMISSION_MODES.indexOf(wanted))).toEqual([true]);
  },
  delivered: ({ mail }, wanted) => {
    const words = JSON.stringify(mail?.requests);
    expect(words).toContain("Are you there?");
    expect(["npm publish", "new task"].filter((text) => words.includes(text))).toHaveLength(wanted);
  },
  quarantined: ({ mail }, wanted) => expect(mail?.quarantined).toHaveLength(wanted - (mail?.leftOut ?? 0)),
  log: ({ mail }, wanted) => expect(mail?.logged.filter((type) => type === wanted)).toHaveLength(mail?.quarantined.length ?? -1),
  leadToldOnce: ({ mail }, wanted) => expect(mail?.toldLead === 1).toBe(wanted),
  rejected: ({ mail }, wanted) => {
    expect(mail?.quarantined).toEqual(wanted);
    for (const type of wanted) expect(JSON.stringify(mail?.requests)).not.toContain(`type=\\"${type}\\"`);
  },
  planApproved: ({ mail }, wanted) => expect(mail?.quarantined.includes("plan_approval_response")).toBe(!wanted),
  stopped: ({ mail }, wanted) => expect(mail?.wasAlive).toBe(!wanted),
  mode: ({ mail }, wanted) => expect(mail?.member?.permissionMode).toBe(wanted),
  currentTask: ({ mail }, wanted) => {
    expect(mail?.tasks).toHaveLength(1);
    expect(mail?.tasks[0]).toMatchObject({ subject: wanted, status: "in_progress", owner: "alice" });
  },
  statusUpdateStartsWork: ({ mail }, wanted) => {
    // One request, for the lead's own word: it brings the news along, which woke nobody.
    expect((mail?.requests.length ?? 0) > 1).toBe(wanted);
    expect(mail?.requests[0]).toContain("module 1 is finished");
  },
};

test("all 13 cases are there, and each of their keys is known", () => {
  expect(CASES).toHaveLength(13);
  expect(
    CASES.flatMap(({ id, expect: wanted }) =>
      Object.keys(wanted)
        .filter((key) => !(key in CHECKS))
        .map((key) => `${id}: ${key}`),
    ),
  ).toEqual([]);
});

for (const raw of CASES)
  (needsPane(raw) ? tmuxDescribe : describe)(`${raw.id}: ${raw.title}`, () => {
    let played: Played | undefined;
    beforeAll(async () => {
      played = await play(raw);
    }, LONG);
    afterAll(() => played?.[Symbol.asyncDispose]());

    for (const key of Object.keys(raw.expect))
      test.skipIf(!(key in CHECKS))(key, { timeout: LONG }, async () => {
        if (!played) throw new Error("It was not played.");
        await CHECKS[key]?.(played, played.place.given.expect[key]);
      });
  });

function lastBody({ proxy }: Played["model"]): Body {
  return JSON.parse(proxy.captures.at(-1)?.body ?? "{}");
}

function resultsOf(model: Played["model"]): Body[] {
  return lastBody(model).messages.flatMap(({ content }: Body) =>
    Array.isArray(content) ? content.filter(({ type }) => type === "tool_result") : [],
  );
}

async function filesBelow(folder: string): Promise<{ name: string; text: string }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(files.map(async (name) => ({ name, text: await readFile(name, "utf8") })));
}
