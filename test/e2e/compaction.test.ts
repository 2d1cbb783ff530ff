import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Answer, Conversation } from "../../src/interaction/demo/conversation.ts";
import { SUMMARY } from "../support/compacting.ts";
import { fakeModel, PROTOCOLS, type Protocol } from "../support/fake-model.ts";
import { type TestHome, testHome } from "../support/home.ts";
import type { Capture, RawPlay } from "../support/proxy.ts";
import { assertSessionLegal } from "../support/proxy.ts";

const LONG = 120_000;
const ASKS_SUMMARY = "The conversation becomes too long and will be replaced by your summary.";

function asksSummary({ steps }: Conversation): boolean {
  const last = steps.at(-1);
  return last?.type === "words" && last.text.includes(ASKS_SUMMARY);
}

/** A provider with a small window, as the settings name it. */
async function smallWindow(home: TestHome, protocol: Protocol, url: Record<string, string>, contextWindow: number): Promise<void> {
  await mkdir(home.data, { recursive: true });
  const baseUrl = url.ANTHROPIC_BASE_URL ?? url.OPENAI_BASE_URL;
  const provider = { name: "small", protocol, baseUrl, model: "tiny", contextWindow };
  await writeFile(join(home.data, "config.yaml"), `model: small/tiny\nproviders: [${JSON.stringify(provider)}]\n`);
}

/** What a server that counts the tools as well would tell; the scripted one counts the messages only. */
function counted({ steps }: Conversation): NonNullable<Answer["usage"]> {
  return { input: Math.ceil((JSON.stringify(steps).length + PREFIX_CHARACTERS) / 4), output: 10 };
}

/** Reads a file of 3,000 characters, another each round, `rounds` times. */
function reads(rounds: number): (conversation: Conversation) => Answer {
  let read = 0;
  return (conversation) => {
    if (asksSummary(conversation)) return { text: SUMMARY };
    const usage = counted(conversation);
    read += 1;
    if (read > rounds) return { text: "All read.", usage };
    return { calls: [{ name: "ReadFile", input: { path: `f${read}.txt` } }], usage };
  };
}

/** About those of the system prompt and the tools. */
const PREFIX_CHARACTERS = 13_000;
const FILES = Object.fromEntries(
  Array.from({ length: 60 }, (_, index) => [`f${index + 1}.txt`, `file ${index + 1} says word after word\n`.repeat(90)]),
);

function bodies(captures: readonly Capture[]): string[] {
  return captures.map(({ body }) => body);
}

/** Events of the run, from `--output-format events`. */
function eventsOf(stdout: string): { type: string; [key: string]: unknown }[] {
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("compaction in the real program", { timeout: LONG }, () => {
  test.each(PROTOCOLS)(
    "I8: a run that outgrows its window goes on with summaries, a model turn between any two, over %s",
    async (protocol) => {
      await using model = await fakeModel(reads(40));
      await using home = await testHome(FILES);
      await smallWindow(home, protocol, model.env(protocol), 20_000);
      const run = await home.roocode(["-p", "Read them all, RED-LINE: keep this sentence.", "--output-format", "events"], {
        timeoutMs: LONG,
      });
      expect(run.stderr).toBe("");
      const events = eventsOf(run.stdout);
      expect(events.at(-1)).toMatchObject({ type: "loop_complete", reason: "end_turn", text: "All read." });
      const compactions = events.filter(({ type }) => type === "compacted");
      expect(compactions.length).toBeGreaterThanOrEqual(2);
      let turns = 1;
      for (const { type } of events) {
        if (type === "compacted") {
          expect(turns).toBeGreaterThan(0);
          turns = 0;
        } else if (type === "message") turns += 1;
      }
      const limit = 20_000 * 4;
      for (const body of bodies(model.proxy.captures)) {
        expect(body.length).toBeLessThan(limit);
        expect(body).toContain("RED-LINE: keep this sentence.");
      }
      expect(model.proxy.refused).toEqual([]);
      const [session = ""] = await home.sessions();
      await assertSessionLegal(session);
      const again = await home.roocode(["-p", "-c", "and now?"], { timeoutMs: LONG });
      expect(again).toMatchObject({ code: 0, stdout: "All read.\n" });
    },
  );

  test.each(PROTOCOLS)(
    "C-05: instructions that fill the window by themselves end the run with their sizes, after at most two requests, over %s",
    async (protocol) => {
      await using model = await fakeModel(() => ({ text: "never" }), { play: (capture) => refuseOver(24_000, protocol, capture) });
      await using home = await testHome({ "ROOCODE.md": "Rule: be careful with each of these words.\n".repeat(850) });
      await smallWindow(home, protocol, model.env(protocol), 8_000);
      const run = await home.roocode(["-p", "hi", "--output-format", "json"]);
      expect(run.code).toBe(1);
      const { result, is_error } = JSON.parse(run.stdout);
      expect(is_error).toBe(true);
      expect(result).toMatch(/window/i);
      expect(result).toMatch(/instructions/i);
      expect(result).toMatch(/\d{4}/);
      expect(model.proxy.captures.length).toBeLessThanOrEqual(2);
    },
  );

  test.each(PROTOCOLS)(
    "C-07: a result larger than the window is cut for the summary, and the last words of the person survive, over %s",
    async (protocol) => {
      let isTight = false;
      const read = reads(3);
      await using model = await fakeModel((conversation) => (asksSummary(conversation) ? { text: SUMMARY } : read(conversation)), {
        play: (capture) => (isTight ? refuseOver(24_000, protocol, capture) : undefined),
      });
      await using home = await testHome({ ...FILES, "f2.txt": "a line of quite some words\n".repeat(1_000) });
      await smallWindow(home, protocol, model.env(protocol), 200_000);
      await home.roocode(["-p", "first words"]);
      isTight = true;
      const run = await home.roocode(["-p", "-c", "LAST WORDS of the person"], { timeoutMs: LONG });
      expect(run).toMatchObject({ code: 0, stdout: "All read.\n" });
      const last = model.proxy.captures.at(-1)?.body ?? "";
      expect(last).toContain("LAST WORDS of the person");
      expect(last.length).toBeLessThan(24_000);
      model.proxy.assertLegal();
    },
  );

  const OVERFLOWS: readonly [string, RawPlay][] = [
    [
      "Anthropic's words",
      {
        status: 400,
        body: JSON.stringify({
          type: "error",
          error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" },
        }),
      },
    ],
    [
      "OpenAI's words",
      {
        status: 400,
        body: JSON.stringify({
          error: { message: "This model's maximum context length is 128000 tokens.", code: "context_length_exceeded" },
        }),
      },
    ],
    [
      "a gateway's page",
      { status: 413, headers: { "content-type": "text/html" }, body: "<html><h1>413 Request Entity Too Large</h1></html>" },
    ],
  ];
  test.each(OVERFLOWS)("C-09: after %s there is one compaction and one retry; a 429 causes none", async (_name, refusal) => {
    let overflowed = false;
    let limited = false;
    const read = reads(6);
    await using model = await fakeModel((conversation) => (asksSummary(conversation) ? { text: SUMMARY } : read(conversation)), {
      play(_capture, number) {
        if (number === 3 && !limited) {
          limited = true;
          return {
            status: 429,
            headers: { "retry-after": "0.01" },
            body: JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "slow down" } }),
          };
        }
        if (number !== 6 || overflowed) return undefined;
        overflowed = true;
        return refusal;
      },
    });
    await using home = await testHome(FILES);
    const run = await home.roocode(["-p", "read", "--output-format", "events"], { env: model.env("anthropic"), timeoutMs: LONG });
    expect(run.code).toBe(0);
    const events = eventsOf(run.stdout);
    // A refusal that names no limit lets the window be taken for smaller, so later ones may come in time.
    expect(events.filter((event) => event.type === "compacted" && event.trigger === "overflow")).toHaveLength(1);
    expect(events.filter(({ type }) => type === "retry")).toMatchObject([{ kind: "rate_limit" }]);
    expect(overflowed && limited).toBe(true);
  });

  test("C-16: after a compaction in plan mode the model still reads that it plans, and an edit is still refused", async () => {
    const read = reads(12);
    let tried = false;
    await using model = await fakeModel((conversation) => {
      if (asksSummary(conversation)) return { text: SUMMARY };
      const isCompacted = conversation.steps.some((step) => step.type === "words" && step.text.includes("## Next step"));
      if (!isCompacted || tried) return tried ? { text: "Refused." } : read(conversation);
      tried = true;
      return { calls: [{ name: "WriteFile", input: { path: "new.txt", content: "x" } }] };
    });
    await using home = await testHome(FILES);
    await smallWindow(home, "anthropic", model.env("anthropic"), 20_000);
    const run = await home.roocode(["-p", "plan", "--permission-mode", "plan"], { timeoutMs: LONG });
    expect(run.stdout).toBe("Refused.\n");
    const last = model.proxy.captures.at(-1)?.body ?? "";
    expect(last).toContain("Plan mode is on");
    expect(last).toContain("Permission denied");
    await expect(readFile(join(home.repo, "new.txt"))).rejects.toThrow("ENOENT");
  });
});

/** As the vendors refuse a body of more characters. */
function refuseOver(characters: number, protocol: Protocol, { body }: Capture): RawPlay | undefined {
  if (body.length <= characters) return undefined;
  const message = "prompt is too long";
  const error =
    protocol === "anthropic"
      ? { type: "error", error: { type: "invalid_request_error", message } }
      : { error: { message, code: "context_length_exceeded" } };
  return { status: 400, headers: { "content-type": "application/json" }, body: JSON.stringify(error) };
}
