import { knownProviders, type SelectedModel, selectModel } from "../../engine/providers/select.ts";
import { UserError } from "../../protocol/errors.ts";
import { userText } from "../../protocol/message.ts";
import type { ModelErrorKind, ModelEvent } from "../../protocol/model.ts";
import type { Surroundings } from "../surroundings.ts";
import { wantedModel, wantsLocal } from "../wanted-model.ts";
import { type Check, fail, off, ok, warn } from "./check.ts";

const TIMEOUT_MS = 20_000;
/** Enough for a call of a model that thinks a little first. */
const MAX_TOKENS = 256;
const TOOL = {
  name: "ready",
  description: "Says that you are ready.",
  inputSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
};

/** Key and model by what is configured; then one smallest real request, unless `offline`. */
export async function modelChecks(given: Surroundings, offline: boolean): Promise<Check[]> {
  const surroundings = wantsLocal(given) && !offline ? await (await import("../local-model.ts")).withLocalModel(given) : given;
  const { settings, env } = surroundings;
  const providers = settings.providers ?? [];
  let selected: SelectedModel;
  try {
    selected = selectModel({ providers, model: wantedModel(surroundings), env });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const [first = "", ...rest] = error.message.split("\n");
    return [
      fail("model", first, rest.join(" ") || "Mend it in the settings or in the environment."),
      off("server", "There is no model to ask."),
    ];
  }
  const { provider, model, contextWindow, notice } = selected;
  const known = knownProviders({ providers, env }).find(({ name }) => name === provider);
  const key = known?.keyVariable && known.hasKey ? `key from ${known.keyVariable}` : "without a key";
  const text = `${provider}/${model}, window ${contextWindow} tokens, ${key}.`;
  const choice = notice ? warn("model", `${text} ${notice}`, `Set contextWindow of "${provider}" in your settings.`) : ok("model", text);
  if (offline) return [choice, off("server", "Not asked (--offline).")];
  return [choice, ...(await serverChecks(selected, known?.keyVariable, known?.baseUrl ?? ""))];
}

async function serverChecks(selected: SelectedModel, keyVariable: string | undefined, baseUrl: string): Promise<Check[]> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const started = performance.now();
  const answer = await askOnce(selected, signal);
  const ms = Math.round(performance.now() - started);
  if (answer.failed)
    return [fail("server", answer.failed.text, mendOf(answer.failed.kind, { keyVariable, baseUrl, model: selected.model }))];
  if (!answer.hasEnded)
    return [
      fail(
        "server",
        `${baseUrl} did not answer within ${TIMEOUT_MS / 1000} s.`,
        "Try again; look whether the server is busy or loads the model.",
      ),
    ];
  const first = answer.firstMs === undefined ? "" : `, first word after ${Math.round(answer.firstMs - started)} ms`;
  return [
    ok("server", `${baseUrl} answered as ${answer.model} in ${ms} ms${first}; streaming works.`),
    answer.hasCalled
      ? ok("tool calls", "The model called a tool.")
      : warn("tool calls", "The model called no tool when it was asked to.", "Choose a model that can: RooCode works through tools."),
  ];
}

type Answer = { model: string; hasCalled: boolean; hasEnded: boolean; firstMs?: number; failed?: Extract<ModelEvent, { type: "error" }> };

/** A field that the server refuses is left out once, as in a session; else nothing is tried again. */
async function askOnce(selected: SelectedModel, signal: AbortSignal, isLast = false): Promise<Answer> {
  const { client, model, maxOutputTokens } = selected;
  const answer: Answer = { model, hasCalled: false, hasEnded: false };
  const request = {
    model,
    system: "You answer a check of the connection.",
    messages: [userText('Call the tool "ready" with ok true. Say nothing else.')],
    tools: [TOOL],
    maxTokens: Math.min(MAX_TOKENS, maxOutputTokens),
  };
  for await (const event of client.stream(request, signal)) {
    answer.firstMs ??= performance.now();
    if (event.type === "error") {
      if (event.adjusted !== undefined && !isLast) return askOnce(selected, signal, true);
      answer.failed = event;
    } else if (event.type === "tool_end" && event.name === TOOL.name && event.input !== null) answer.hasCalled = true;
    else if (event.type === "end") {
      answer.hasEnded = true;
      answer.model = event.message.model;
    }
  }
  return answer;
}

function mendOf(
  kind: ModelErrorKind,
  { keyVariable, baseUrl, model }: { keyVariable: string | undefined; baseUrl: string; model: string },
): string {
  switch (kind) {
    case "auth":
      return keyVariable ? `Check the key in ${keyVariable}.` : "Name the variable that holds its key: apiKeyEnv in the settings.";
    case "network":
      return `Check the address ${baseUrl}, the network and the proxy variables, and whether the server runs.`;
    case "quota":
      return "Look at the account's balance and limits.";
    case "rate_limit":
    case "overloaded":
    case "server":
      return "Try again later; a session waits and asks again by itself.";
    case "stalled":
    case "truncated":
    case "parse":
      return `Check that ${baseUrl} is the model's address (an OpenAI one ends in /v1), not a proxy's page, and that its protocol is right.`;
    case "invalid_request":
    case "context_length":
      return `Check that the server has the model "${model}" and that its protocol is right: ${baseUrl}`;
  }
}
