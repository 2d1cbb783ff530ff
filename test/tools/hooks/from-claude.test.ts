import { expect, test } from "vitest";
import { hooksFromClaude } from "../../../src/tools/hooks/from-claude.ts";
import { readHooks } from "../../../src/tools/hooks/schema.ts";

/** One hook under one event; what comes of it must be a hook that is read without a problem. */
function converted(event: string, hook: object, matcher?: unknown) {
  const { entries, left } = hooksFromClaude({ [event]: [{ ...(matcher === undefined ? {} : { matcher }), hooks: [hook] }] });
  expect(readHooks(JSON.stringify({ hooks: entries }), "c.yaml", "user").problems).toEqual([]);
  return { entry: entries[0], left };
}
const LINT = { type: "command", command: "lint" };

test.each([
  ["PreToolUse", "Write", 'tool == "EditFile" || tool == "WriteFile"'],
  ["PostToolUse", "Write", 'tool == "WriteFile"'],
  ["PreToolUse", "Bash, WebFetch", 'tool == "Bash" || tool == "WebFetch"'],
  ["PreToolUse", "mcp__a/b.*", "tool =~ /^(?:mcp__a\\/b.*)$/"],
  ["PreToolUse", "mcp__a\\/b.*", "tool =~ /^(?:mcp__a\\/b.*)$/"],
  ["PreToolUse", "*", undefined],
  ["SessionStart", "startup|resume", 'source == "new" || source == "resume"'],
  ["Notification", "permission_prompt", 'kind == "permission"'],
  ["PreCompact", "manual", 'trigger == "manual"'],
  ["SubagentStop", "Explore", 'agent_type == "Explore"'],
  ["Stop", "whatever", undefined],
])("a matcher of %s, %s, is the condition %s", (event, matcher, condition) => {
  const { entry, left } = converted(event, LINT, matcher);
  expect(left).toEqual([]);
  expect(entry?.if).toBe(condition);
});

test.each([
  ["PreToolUse", LINT, "(", 'its matcher "(" is no regular expression'],
  ["PreToolUse", LINT, 7, "its matcher is no text"],
  ["SessionEnd", LINT, "logout", 'its matcher "logout" has no counterpart here'],
  ["Stop", { ...LINT, if: "Bash(git *)" }, undefined, '"if" is not known here'],
  ["Stop", { ...LINT, once: true }, undefined, '"once" is not known here'],
  ["Stop", { ...LINT, shell: "pwsh" }, undefined, '"shell" is not known here'],
  ["Stop", { type: "command" }, undefined, "it has no command"],
  ["Stop", { type: "mcp_tool" }, undefined, 'there is no action "mcp_tool" here'],
  ["TeamConverged", LINT, undefined, "there is no such event here"],
])("what can't be had here is left with the reason: %s, %j, %s", (event, hook, matcher, reason) => {
  const { entry, left } = converted(event, hook, matcher);
  expect(entry).toBeUndefined();
  expect(left).toEqual([expect.stringContaining(reason)]);
});

test("actions keep what they say: limits, headers from the environment, a judging model as a sub-agent", () => {
  expect(converted("Stop", { ...LINT, timeout: 9_999, async: true }).entry?.action).toEqual({ ...LINT, timeout: 3_600, async: true });
  const http = { type: "http", url: "https://example.org/h", headers: { a: "Bearer $TOKEN", b: "${OTHER}" }, allowedEnvVars: ["TOKEN"] };
  expect(converted("Stop", http).entry?.action).toEqual({
    type: "http",
    url: http.url,
    headers: { a: "Bearer ${TOKEN}", b: "" },
  });
  expect(converted("Stop", { type: "prompt", prompt: "Is it done? $ARGUMENTS" }).entry?.action).toEqual({
    type: "agent",
    prompt: expect.stringMatching(/^Is it done\?\nAnswer with \{"decision": "block"/),
  });
});
