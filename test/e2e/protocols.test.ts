import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer } from "../../src/interaction/demo/conversation.ts";
import { type FakeModel, fakeModel, inOrder } from "../support/fake-model.ts";
import { type TestHome, testHome } from "../support/home.ts";
import { assertSessionLegal, type RawPlay } from "../support/proxy.ts";
import { responsesAnswer } from "../support/responses-sse.ts";

const PROTOCOLS = ["anthropic", "openai", "openai-responses"] as const;
type Protocol = (typeof PROTOCOLS)[number];
type RawCall = { id: string; name: string; json: string };

/** The settings or the environment by which a run finds the model. */
async function environment(model: FakeModel, home: TestHome, protocol: Protocol): Promise<Record<string, string>> {
  if (protocol !== "openai-responses") return model.env(protocol);
  await mkdir(home.data, { recursive: true });
  await writeFile(join(home.data, "config.yaml"), model.responsesSettings());
  return {};
}

const EDIT: readonly Answer[] = [
  {
    text: "I look.",
    calls: [
      { name: "ReadFile", input: { path: "src/limits.js" } },
      { name: "ReadFile", input: { path: "README.md" } },
    ],
  },
  {
    calls: [
      { name: "EditFile", input: { path: "src/limits.js", old_string: "minPasswordLength: 8", new_string: "minPasswordLength: 12" } },
    ],
  },
  { text: "The minimum is 12 now." },
  { calls: [{ name: "Grep", input: { pattern: "minPasswordLength" } }] },
  { text: "It is used once." },
];

test("a conversation over OpenAI's Responses edits a file, goes on in a second run, and every body and the session are legal", async () => {
  await using model = await fakeModel(inOrder(...EDIT));
  await using home = await testHome();
  const env = await environment(model, home, "openai-responses");
  const run = await home.roocode(["-p", "Make passwords longer", "--permission-mode", "acceptEdits"], { env });
  expect(run).toEqual({ code: 0, stdout: "The minimum is 12 now.\n", stderr: "" });
  expect(await readFile(join(home.repo, "src/limits.js"), "utf8")).toContain("minPasswordLength: 12,");
  expect(await home.roocode(["-p", "-c", "Where is it used?"], { env })).toMatchObject({ code: 0, stdout: "It is used once.\n" });
  expect(model.proxy.captures.map(({ path }) => path)).toEqual(Array(5).fill("/v1/responses"));
  model.proxy.assertLegal();
  const [session] = await home.sessions();
  await assertSessionLegal(session ?? "");
  const bodies = model.proxy.captures.map(({ body }) => JSON.parse(body));
  expect(new Set(bodies.map((body) => body.prompt_cache_key)).size).toBe(1);
  expect(session).toContain(bodies[0].prompt_cache_key);
});

/** Thinking that only its writer can read, and a call; then words. */
const THINKING: Record<Protocol, { first: string; last: string; kept: string; mark: string }> = {
  anthropic: {
    first: anthropicFrames([
      { type: "thinking", text: "", signature: "EqQB+empty==" },
      { type: "thinking", text: "Let me see.", signature: "EqQB+sig==" },
      { id: "toolu_1", name: "ReadFile", json: '{"path":"README.md"}' },
    ]),
    last: anthropicFrames([{ type: "text", text: "Done." }]),
    kept: '{"type":"thinking","thinking":"","signature":"EqQB+empty=="},{"type":"thinking","thinking":"Let me see.","signature":"EqQB+sig=="},{"type":"tool_use"',
    mark: "EqQB",
  },
  openai: {
    first: chatFrames(
      [{ reasoning_content: "Let me " }, { reasoning_content: "see." }],
      [{ id: "call_1", name: "ReadFile", json: '{"path":"README.md"}' }],
    ),
    last: chatFrames([{ content: "Done." }], []),
    kept: '"reasoning_content":"Let me see.","tool_calls":',
    mark: "Let me see.",
  },
  "openai-responses": {
    first: responsesAnswer({
      reasoning: { id: "rs_1", summary: "Let me see.", encrypted: "gAAAA+/=" },
      calls: [{ id: "call_1", name: "ReadFile", input: { path: "README.md" } }],
    }),
    last: responsesAnswer({ text: "Done." }),
    kept: '{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Let me see."}],"encrypted_content":"gAAAA+/="},{"type":"function_call"',
    mark: "rs_1",
  },
};

test.each(PROTOCOLS)(
  "C-12: thinking stays unchanged with its model, in the tool loop and after a resume, and another model gets none, over %s",
  async (protocol) => {
    const { first, last, kept, mark } = THINKING[protocol];
    await using model = await fakeModel(() => ({ text: "unused" }), {
      play: (_, number): RawPlay => ({ body: number === 1 ? first : last }),
    });
    await using home = await testHome();
    const env = await environment(model, home, protocol);
    expect(await home.roocode(["-p", "Look"], { env })).toMatchObject({ code: 0, stdout: "Done.\n" });
    expect(await home.roocode(["-p", "-c", "Go on"], { env })).toMatchObject({ code: 0, stdout: "Done.\n" });
    expect(model.proxy.captures.map(({ body }) => body.includes(kept))).toEqual([false, true, true]);
    model.proxy.assertLegal();
    const other = { anthropic: "claude-opus-4-8", openai: "gpt-4.1", "openai-responses": "gpt-5.4-mini" }[protocol];
    expect(await home.roocode(["-p", "-c", "--model", other, "And on"], { env })).toMatchObject({ code: 0, stdout: "Done.\n" });
    const foreign = model.proxy.captures.at(-1)?.body ?? "";
    expect([JSON.parse(foreign).model, foreign.includes(mark), foreign.includes("README.md")]).toEqual([other, false, true]);
    expect(model.proxy.refused).toEqual([]);
  },
);

const BROKEN: readonly (readonly [call: RawCall, answer: RegExp])[] = [
  [{ id: "c1", name: "ReadFile", json: "{" }, /no JSON object \(.*position 1.*not run/],
  [{ id: "c2", name: "ReadFile", json: '{"path":"a"' }, /no JSON object \(.*position 11.*not run/],
  [{ id: "c3", name: "ReadFile", json: '{"path":"a"}}' }, /no JSON object \(.*position 12.*not run/],
  [{ id: "c4", name: "ReadFile", json: "null" }, /no JSON object \(position 0: null\)/],
  [{ id: "c5", name: "ReadFile", json: "[]" }, /no JSON object \(position 0: an array\)/],
  [{ id: "c6", name: "Teleport", json: "{}" }, /There is no tool "Teleport"/],
  [{ id: "c7", name: "ReadFile", json: '{"path":7}' }, /path/],
];

test.each(PROTOCOLS)(
  "C-14: each broken call comes back as an error result, the rest goes on, and the history is legal, over %s",
  async (protocol) => {
    const calls = BROKEN.map(([call]) => call);
    const first = {
      anthropic: () => anthropicFrames(calls),
      openai: () => chatFrames([], calls),
      "openai-responses": () => responsesAnswer({ calls }),
    }[protocol]();
    await using model = await fakeModel(() => ({ text: "unused" }), {
      play: (_, number): RawPlay => ({ body: number === 1 ? first : THINKING[protocol].last }),
    });
    await using home = await testHome();
    const run = await home.roocode(["-p", "Break"], { env: await environment(model, home, protocol) });
    expect(run).toMatchObject({ code: 0, stdout: "Done.\n" });
    const results = resultTexts(JSON.parse(model.proxy.captures[1]?.body ?? ""));
    expect(results).toEqual(BROKEN.map(([, answer]) => expect.stringMatching(answer)));
    expect(model.proxy.refused).toEqual([]);
    await assertSessionLegal((await home.sessions())[0] ?? "");
  },
);

test("C-09: a 429 is waited for as long as it says, and the same bytes go out again", async () => {
  const limited: RawPlay = {
    status: 429,
    headers: { "content-type": "application/json", "retry-after": "1" },
    body: '{"error":{"message":"Rate limit: maximum context of tokens a minute is used up","type":"rate_limit_error"}}',
  };
  await using model = await fakeModel(() => ({ text: "Here." }), { play: (_, number) => (number === 1 ? limited : undefined) });
  await using home = await testHome();
  const run = await home.roocode(["-p", "hello", "--output-format", "events"], { env: model.env("openai") });
  expect(run.code).toBe(0);
  const events = run.stdout.split("\n").flatMap((line) => (line ? [JSON.parse(line)] : []));
  expect(events.filter(({ type }) => type === "retry")).toEqual([expect.objectContaining({ kind: "rate_limit", delayMs: 1000 })]);
  expect(events.some(({ type }) => type === "compacted")).toBe(false);
  const [before, after] = model.proxy.captures;
  expect(after?.body).toBe(before?.body);
});

test("a field that a server does not take is left out, and the run says so and goes on", async () => {
  const refused: RawPlay = {
    status: 400,
    headers: { "content-type": "application/json" },
    body: '{"error":{"message":"Unknown parameter: \'stream_options\'."}}',
  };
  await using model = await fakeModel(() => ({ text: "Here." }), { play: (_, number) => (number === 1 ? refused : undefined) });
  await using home = await testHome();
  const run = await home.roocode(["-p", "hello"], { env: model.env("openai") });
  expect(run).toEqual({ code: 0, stdout: "Here.\n", stderr: expect.stringContaining('does not take "stream_options"') });
});

test("a model that no table knows is told in one line", async () => {
  await using model = await fakeModel(() => ({ text: "Here." }));
  await using home = await testHome();
  const run = await home.roocode(["-p", "hello", "--model", "strange-1"], { env: model.env("openai") });
  expect(run.stdout).toBe("Here.\n");
  expect(run.stderr.trim().split("\n")).toEqual([expect.stringContaining('Nothing is known of the model "strange-1"')]);
});

function resultTexts(body: Record<string, unknown>): string[] {
  const list = (body.messages ?? body.input) as Record<string, unknown>[];
  return list.flatMap((item) => {
    if (item.type === "function_call_output") return [String(item.output)];
    if (item.role === "tool") return [String(item.content)];
    if (item.role !== "user" || !Array.isArray(item.content)) return [];
    return item.content.flatMap((block) => (block.type === "tool_result" ? [String(block.content?.[0]?.text)] : []));
  });
}

type AnthropicBlock = RawCall | { type: "text"; text: string } | { type: "thinking"; text: string; signature: string };

function anthropicFrames(blocks: readonly AnthropicBlock[]): string {
  const pieces = blocks.flatMap((block, index) => {
    const [start, deltas] =
      "json" in block
        ? [{ type: "tool_use", id: block.id, name: block.name, input: {} }, [{ type: "input_json_delta", partial_json: block.json }]]
        : block.type === "text"
          ? [{ type: "text", text: "" }, [{ type: "text_delta", text: block.text }]]
          : [
              { type: "thinking", thinking: "", signature: "" },
              [
                { type: "thinking_delta", thinking: block.text },
                { type: "signature_delta", signature: block.signature },
              ],
            ];
    return [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ];
  });
  const stop_reason = blocks.some((block) => "json" in block) ? "tool_use" : "end_turn";
  const usage = { input_tokens: 10, output_tokens: 5 };
  return sse([
    { type: "message_start", message: { usage } },
    ...pieces,
    { type: "message_delta", delta: { stop_reason }, usage },
    { type: "message_stop" },
  ]);
}

function chatFrames(deltas: readonly Record<string, unknown>[], calls: readonly RawCall[]): string {
  const pieces = calls.map(({ id, name, json }, index) => ({ tool_calls: [{ index, id, function: { name, arguments: json } }] }));
  const chunks = [...deltas, ...pieces].map((delta) => ({ choices: [{ delta }] }));
  const last = {
    choices: [{ delta: {}, finish_reason: calls.length > 0 ? "tool_calls" : "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  };
  return `${sse([...chunks, last])}data: [DONE]\n\n`;
}

function sse(documents: readonly unknown[]): string {
  return documents.map((document) => `data: ${JSON.stringify(document)}\n\n`).join("");
}
