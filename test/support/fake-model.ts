import { join } from "node:path";
import type { Answer, Conversation } from "../../src/interaction/demo/conversation.ts";
import { type AnswerFunction, serveAnswers } from "../../src/interaction/demo/model-server.ts";
import { type PlanInput, readPlan } from "../../src/interaction/demo/plan.ts";
import { scriptedTurn } from "../../src/interaction/demo/scripted-model.ts";
import { type Capture, type RawPlay, type RecordingProxy, recordingProxy } from "./proxy.ts";
import { tempFolder } from "./temp.ts";

export type Protocol = "anthropic" | "openai";
export const PROTOCOLS: readonly Protocol[] = ["anthropic", "openai"];

export type FakeModel = AsyncDisposable & {
  proxy: RecordingProxy;
  /** What was asked, as the scripts read it. */
  requests: Conversation[];
  /** Providers in the settings of someone who uses this model by Responses, for <data>/config.yaml. */
  responsesSettings(): string;
  /** For a child process that is to use this model. */
  env(protocol: Protocol): Record<string, string>;
};

type FakeOptions = { latencyMs?: number; play?: (capture: Capture, number: number) => RawPlay | undefined };

/** A model over real HTTP and SSE in both protocols, behind the proxy that refuses what the vendors refuse. */
export async function fakeModel(
  answers: AnswerFunction | { plan: PlanInput },
  { latencyMs = 0, play }: FakeOptions = {},
): Promise<FakeModel> {
  const answer = typeof answers === "function" ? answers : playPlan(answers.plan);
  const folder = await tempFolder("roocode-model");
  const model = await serveAnswers(answer, latencyMs);
  const proxy = await recordingProxy({ target: model.anthropicUrl, captureFile: join(folder.path, "bodies.jsonl"), play });
  return {
    proxy,
    requests: model.requests,
    responsesSettings: () =>
      `providers:\n  - { name: mine, protocol: openai-responses, baseUrl: "${proxy.openaiUrl}", model: gpt-5.4, contextWindow: 400000 }\n`,
    env: (protocol): Record<string, string> =>
      protocol === "anthropic"
        ? { ANTHROPIC_BASE_URL: proxy.anthropicUrl, ANTHROPIC_API_KEY: "test-key" }
        : { OPENAI_BASE_URL: proxy.openaiUrl, OPENAI_API_KEY: "test-key" },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await model.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** An answer a round of the conversation: the first to its first request, and so on; the last one again and again. */
export function inOrder(...answers: readonly Answer[]): (conversation: Conversation) => Answer {
  return ({ rounds }) => answers[rounds] ?? answers.at(-1) ?? { text: "" };
}

function playPlan(input: PlanInput): AnswerFunction {
  const plan = readPlan(input);
  return (conversation) => scriptedTurn(plan, conversation);
}
