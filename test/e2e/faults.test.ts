import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fakeModel, inOrder } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import type { RawPlay } from "../support/proxy.ts";

const BEGUN = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: "assistant", content: "I beg" } }] })}\n\n`;
const CALL_BEGUN = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "c1", function: { name: "WriteFile", arguments: '{"path":"half.txt","content":"ha' } }] } }] })}\n\n`;

test("a limit, an overload, a cut in a call, a stall: each is seen, each is tried again, no half call runs", {
  timeout: 60_000,
}, async () => {
  const faults = new Map<number, RawPlay>([
    [
      1,
      {
        status: 429,
        headers: { "retry-after": "0.02" },
        body: JSON.stringify({ error: { message: "slow down", type: "rate_limit_error" } }),
      },
    ],
    [2, { status: 529, body: JSON.stringify({ error: { message: "Overloaded", type: "overloaded_error" } }) }],
    [4, { body: CALL_BEGUN }],
    [5, { body: BEGUN, isStalled: true }],
  ]);
  await using model = await fakeModel(inOrder({ calls: [{ name: "ReadFile", input: { path: "README.md" } }] }, { text: "Done." }), {
    play: (_capture, number) => faults.get(number),
  });
  await using home = await testHome();
  await mkdir(home.data, { recursive: true });
  const baseUrl = model.env("openai").OPENAI_BASE_URL;
  const provider = { name: "mine", protocol: "openai", baseUrl, model: "m", compat: { idleMs: 400 } };
  await writeFile(join(home.data, "config.yaml"), `providers: [${JSON.stringify(provider)}]\n`);
  const run = await home.roocode(["-p", "go", "--output-format", "events", "--permission-mode", "bypassPermissions"]);
  expect(run.code).toBe(0);
  const events: { type: string; kind?: string; attempt?: number; max?: number }[] = run.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const seen = events.flatMap((event) =>
    event.type === "retry" ? [`${event.kind} ${event.attempt}/${event.max}`] : event.type === "attempt_reset" ? ["reset"] : [],
  );
  expect(seen).toEqual(["rate_limit 2/8", "overloaded 3/8", "reset", "truncated 2/4", "reset", "stalled 3/4"]);
  expect(events.filter(({ type }) => type === "tool_use")).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ type: "loop_complete", reason: "end_turn" });
  model.proxy.assertLegal();
});
