import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type LocalServer, probeLocal } from "../../../src/engine/providers/local-probe.ts";

type Answers = Readonly<Record<string, (body: string) => unknown>>;
/** A port of loopback where nobody listens. */
const NOBODY = "http://127.0.0.1:9/v1";
const SILENT: Record<LocalServer, string> = { ollama: NOBODY, lmstudio: NOBODY, "llama.cpp": NOBODY, vllm: NOBODY };

/** JSON by path; what is not named is a 404, and `undefined` no answer at all. */
async function serving(answers: Answers) {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      const answer = answers[request.url ?? ""];
      if (!answer) response.writeHead(404).end("<html>");
      else {
        const value = answer(body);
        if (value !== undefined) response.end(typeof value === "string" ? value : JSON.stringify(value));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server's address is never a string.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    url,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const shown = (capabilities: readonly string[], length: number, parameters = "") => ({
  capabilities,
  parameters,
  model_info: { "general.architecture": "qwen3", "qwen3.context_length": length },
});

async function found(server: LocalServer, answers: Answers) {
  await using one = await serving(answers);
  const model = await probeLocal({ ...SILENT, [server]: one.url }, 2_000);
  if (model) expect(model).toMatchObject({ provider: server, baseUrl: one.url });
  return model && { model: model.model, contextWindow: model.contextWindow };
}

test("Ollama: the first model with tools and a window that is large enough, at most what the server is likely to keep", async () => {
  const models: Record<string, object> = {
    "embed:latest": shown(["embedding"], 262_144),
    "small:1b": shown(["completion", "tools"], 8_192),
    "qwen3-coder:30b": shown(["completion", "tools"], 262_144),
  };
  const answers: Answers = {
    "/api/tags": () => ({ models: Object.keys(models).map((name) => ({ name })) }),
    "/api/show": (body) => models[JSON.parse(body).model],
  };
  expect(await found("ollama", answers)).toEqual({ model: "qwen3-coder:30b", contextWindow: 32_000 });
});

test("Ollama: num_ctx of the model is its window, also where it is too small", async () => {
  const withWindow = (parameters: string): Answers => ({
    "/api/tags": () => ({ models: [{ name: "m" }] }),
    "/api/show": () => shown(["tools"], 262_144, parameters),
  });
  expect(await found("ollama", withWindow("stop  x\nnum_ctx    65536"))).toEqual({ model: "m", contextWindow: 65_536 });
  expect(await found("ollama", withWindow("num_ctx 4096"))).toBeUndefined();
});

test("LM Studio: what is loaded comes first, with its window; one without tool use is none", async () => {
  const data = [
    { id: "a", type: "llm", state: "not-loaded", max_context_length: 100_000, capabilities: ["tool_use"] },
    { id: "b", type: "llm", state: "loaded", loaded_context_length: 40_000, max_context_length: 100_000, capabilities: ["tool_use"] },
    { id: "c", type: "embeddings", state: "loaded", max_context_length: 100_000 },
  ];
  expect(await found("lmstudio", { "/api/v0/models": () => ({ data }) })).toEqual({ model: "b", contextWindow: 40_000 });
  const without = data.map((one) => ({ ...one, capabilities: [] }));
  expect(await found("lmstudio", { "/api/v0/models": () => ({ data: without }) })).toBeUndefined();
});

test("llama.cpp: the window that it runs with, and tools by its template", async () => {
  const answers = (n_ctx: number, chat_template: string): Answers => ({
    "/props": () => ({ default_generation_settings: { n_ctx }, chat_template }),
    "/v1/models": () => ({ data: [{ id: "local.gguf", meta: { n_ctx_train: 131_072 } }] }),
  });
  expect(await found("llama.cpp", answers(65_536, "{% if tools %}"))).toEqual({ model: "local.gguf", contextWindow: 65_536 });
  expect(await found("llama.cpp", answers(8_192, "{% if tools %}"))).toBeUndefined();
  expect(await found("llama.cpp", answers(65_536, "{{ messages }}"))).toBeUndefined();
});

test("vLLM: max_model_len is its window", async () => {
  const answers = (max_model_len: number): Answers => ({ "/v1/models": () => ({ data: [{ id: "Qwen/Q", max_model_len }] }) });
  expect(await found("vllm", answers(40_960))).toEqual({ model: "Qwen/Q", contextWindow: 40_960 });
  expect(await found("vllm", answers(4_096))).toBeUndefined();
});

test("a name that would act on the terminal is no model", async () => {
  const data = ["\u001b]0;owned\u0007", "two\nlines", "qwen3"].map((id) => ({ id, max_model_len: 65_536 }));
  expect(await found("vllm", { "/v1/models": () => ({ data }) })).toEqual({ model: "qwen3", contextWindow: 65_536 });
});

test("something else on the port, nonsense, and a server that says nothing are no model, and cost no more than the limit", async () => {
  await using silent = await serving({ "/v1/models": () => undefined });
  await using odd = await serving({ "/v1/models": () => "[1", "/props": () => [null], "/api/v0/models": () => ({ data: [7, null, {}] }) });
  expect(await probeLocal(SILENT)).toBeUndefined();
  const started = performance.now();
  expect(await probeLocal({ ollama: odd.url, lmstudio: odd.url, "llama.cpp": odd.url, vllm: silent.url }, 200)).toBeUndefined();
  expect(performance.now() - started).toBeLessThan(1_500);
});
