import { expect, test } from "vitest";
import { readHooks } from "../../../src/tools/hooks/schema.ts";

const read = (text: string) => readHooks(text, "c.yaml", "user");
const HOOK = "{event: stop, action: {type: command, command: x}}";

test("a hook has its event by our name, its place, and a time limit by event and action", () => {
  const { hooks, problems } = read(
    `hooks:
  - {event: Stop, action: {type: command, command: x}}
  - {event: session_end, action: {type: command, command: x}}
  - {event: stop, action: {type: agent, prompt: x}}
  - {event: stop, timeout: 7, async: true, action: {type: command, command: x}}
  - {event: stop, timeout: 7, action: {type: command, command: x, timeout: 8}}
`,
  );
  expect(problems).toEqual([]);
  expect(hooks.map(({ event, timeoutMs, isAsync, place }) => [event, timeoutMs, isAsync, place])).toEqual([
    ["stop", 60_000, false, "c.yaml:2"],
    ["session_end", 5_000, false, "c.yaml:3"],
    ["stop", 600_000, false, "c.yaml:4"],
    ["stop", 7_000, true, "c.yaml:5"],
    ["stop", 8_000, false, "c.yaml:6"],
  ]);
});

test("no hook is taken from a file that does not parse, or that has no list of them", () => {
  expect(read(`hooks: [${HOOK}]\nmodel: [\n`)).toEqual({ hooks: [], problems: [] });
  expect(read("model: x\n")).toEqual({ hooks: [], problems: [] });
  expect(read("hooks:\n")).toEqual({ hooks: [], problems: [] });
  expect(read("model: x\nhooks: {Stop: []}\n")).toEqual({
    hooks: [],
    problems: [expect.stringMatching(/^c\.yaml:2: "hooks" is not a list/)],
  });
});

test.each([
  ["{event: stop, action: {type: prompt, prompt: x, async: true}}", "hooks[0].action: words for the model can't be async"],
  ["{event: stop, action: {type: http, url: 'file:///x'}}", "hooks[0].action.url: "],
  ["{event: stop, timeout: 0, action: {type: command, command: x}}", "hooks[0].timeout: "],
  ["{event: stop, if: 'tol == 1', action: {type: command, command: x}}", 'hooks[0].if: there is no field "tol"'],
  ["{event: stop, matcher: Bash, action: {type: command, command: x}}", "hooks[0]: "],
  ["stop", "hooks[0]: "],
])("%s is off and named, and the next hook works", (entry, problem) => {
  const { hooks, problems } = read(`hooks:\n  - ${entry}\n  - ${HOOK}\n`);
  expect(hooks.map(({ place }) => place)).toEqual(["c.yaml:3"]);
  expect(problems).toEqual([expect.stringContaining(`c.yaml:2: ${problem}`)]);
  expect(problems[0]).toContain("This hook is off.");
});
