import { expect, test } from "vitest";
import * as z from "zod";
import { prepareCall } from "../../src/engine/run-tool.ts";
import { defineTool } from "../../src/protocol/define-tool.ts";
import type { HookEvent, HookOutcome } from "../../src/protocol/hook.ts";
import type { PermissionRequest } from "../../src/protocol/permission.ts";
import { errorResult, resultText, textResult } from "../../src/protocol/tool.ts";

/** One call of a tool to its end; what hooks heard, and what was to be allowed. */
async function called(text: string, answer: (event: HookEvent) => HookOutcome = () => ({})) {
  const fired: HookEvent[] = [];
  const requests: PermissionRequest[] = [];
  const interrupt = new AbortController();
  const tool = defineTool({
    name: "Say",
    description: "Says it.",
    schema: z.object({ text: z.string() }),
    access: (input) => ({ kind: "other", subject: input.text }),
    async run(input) {
      if (input.text === "interrupt") interrupt.abort();
      return input.text === "fail" ? errorResult("failed") : textResult(`said ${input.text}`);
    },
  });
  const prepared = await prepareCall(
    { type: "tool_use", id: "c", name: "Say", input: { text } },
    {
      agent: "main",
      cwd: "/",
      tools: new Map([["Say", tool]]),
      authorize: async (request) => {
        requests.push(request);
        return { decision: "allow", sticky: false, layer: "mode", reason: "" };
      },
      fireHook: async (event) => {
        fired.push(event);
        return answer(event);
      },
      shrink: async (_, result) => result,
    },
    new AbortController().signal,
    () => undefined,
  );
  const result = prepared.type === "answered" ? prepared.result : await prepared.run(interrupt.signal, () => undefined);
  return { result: resultText(result), fired, requests };
}

test("hooks hear of a call before and after it, and of a failure as such; of one that was interrupted nothing more", async () => {
  const { fired } = await called("a");
  expect(fired).toEqual([
    { event: "pre_tool_use", tool: "Say", input: { text: "a" }, callId: "c" },
    { event: "post_tool_use", tool: "Say", input: { text: "a" }, callId: "c", result: textResult("said a") },
  ]);
  expect((await called("fail")).fired.map(({ event }) => event)).toEqual(["pre_tool_use", "post_tool_failure"]);
  expect((await called("interrupt")).fired.map(({ event }) => event)).toEqual(["pre_tool_use"]);
});

test("an input that a hook changed is what is judged, run and heard of afterwards; one that does not fit is not run", async () => {
  const { result, requests, fired } = await called("a", () => ({ updatedInput: { text: "b" }, decision: "ask", reason: "look" }));
  expect(result).toBe("said b");
  expect(requests).toEqual([
    {
      agent: "main",
      tool: "Say",
      access: { kind: "other", subject: "b" },
      call: { type: "tool_use", id: "c", name: "Say", input: { text: "b" } },
      hook: { decision: "ask", reason: "a hook says ask: look" },
    },
  ]);
  expect(fired.at(-1)).toMatchObject({ event: "post_tool_use", input: { text: "b" } });
  const wrong = await called("a", () => ({ updatedInput: { text: 5 } }));
  expect(wrong.result).toContain("A hook changed the input of this call to one that does not fit");
  expect(wrong.requests).toEqual([]);
});
