import { describe, expect, test } from "vitest";
import { cheapModel, type Environment, selectModel } from "../../../src/engine/providers/select.ts";
import { type ProviderSettings, ProvidersSchema } from "../../../src/engine/providers/settings.ts";
import { UserError } from "../../../src/protocol/errors.ts";
import { rawServer } from "../../support/raw-sse.ts";
import { modelRequest } from "../../support/requests.ts";
import { collect, vectorBytes } from "../../support/streams.ts";

const BOTH_KEYS: Environment = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o" };

function chosen(model: string | undefined, env: Environment, providers: ProviderSettings[] = []): string {
  const selected = selectModel({ providers, model, env });
  return `${selected.provider}/${selected.model}`;
}

function refusal(model: string | undefined, env: Environment, providers: ProviderSettings[] = []): UserError {
  try {
    selectModel({ providers, model, env });
  } catch (error) {
    if (error instanceof UserError) return error;
  }
  throw new Error("No UserError was thrown.");
}

describe("without providers in the settings", () => {
  test("Anthropic's key comes before OpenAI's, and sonnet is the default", () => {
    expect(chosen(undefined, BOTH_KEYS)).toMatch(/^anthropic\/claude-sonnet-/);
    expect(chosen(undefined, { ANTHROPIC_AUTH_TOKEN: "t" })).toMatch(/^anthropic\/claude-sonnet-/);
    expect(chosen(undefined, { OPENAI_API_KEY: "o" })).toMatch(/^openai\/gpt-/);
  });

  test("aliases are models of the provider that is there", () => {
    expect(chosen("haiku", BOTH_KEYS)).toMatch(/^anthropic\/claude-haiku-/);
    expect(chosen("opus", BOTH_KEYS)).toMatch(/^anthropic\/claude-opus-/);
    expect(chosen("haiku", { OPENAI_API_KEY: "o" })).toMatch(/^openai\/gpt-/);
  });

  test("an id of a known family goes to the provider that has it", () => {
    expect(chosen("gpt-5.4", BOTH_KEYS)).toBe("openai/gpt-5.4");
    expect(chosen("claude-opus-4-8", BOTH_KEYS)).toBe("anthropic/claude-opus-4-8");
    expect(chosen("openai/my-tune", BOTH_KEYS)).toBe("openai/my-tune");
  });

  test("a base URL alone is a server that wants no key", () => {
    expect(chosen("qwen", { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" })).toBe("openai/qwen");
    expect(chosen(undefined, { ANTHROPIC_BASE_URL: "http://127.0.0.1:1", OPENAI_API_KEY: "o" })).toMatch(/^openai\//);
  });

  test("nothing at all is exit code 2 and four lines: keys, a local server, baseUrl, the demo", () => {
    const error = refusal(undefined, {});
    expect(error.exitCode).toBe(2);
    expect(error.message.split("\n")).toHaveLength(4);
    for (const word of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "Ollama", "baseUrl", "roocode demo"]) expect(error.message).toContain(word);
  });
});

describe("with providers in the settings", () => {
  const ollama: ProviderSettings = { name: "ollama", model: "qwen3-coder", contextWindow: 32_768 };

  test("the first one is used before any key", () => expect(chosen(undefined, BOTH_KEYS, [ollama])).toBe("ollama/qwen3-coder"));

  test("what stands before the first slash is a provider only if one has that name", () => {
    expect(chosen("ollama/qwen/x", {}, [ollama])).toBe("ollama/qwen/x");
    expect(chosen("qwen/x", {}, [ollama])).toBe("ollama/qwen/x");
    expect(chosen("anthropic/claude-x", BOTH_KEYS, [ollama])).toBe("anthropic/claude-x");
  });

  test("a small window is not given to the answer alone", () => {
    expect(selectModel({ providers: [ollama], env: {} })).toMatchObject({ contextWindow: 32_768, maxOutputTokens: 8192 });
    expect(selectModel({ providers: [{ ...ollama, maxOutputTokens: 4000 }], env: {} })).toMatchObject({ maxOutputTokens: 4000 });
  });

  test("what is missing is said with the provider's name", () => {
    expect(refusal(undefined, {}, [{ name: "mine", baseUrl: "http://127.0.0.1:1" }]).message).toContain('"mine" needs a protocol');
    expect(refusal(undefined, {}, [{ name: "mine", protocol: "openai" }]).message).toContain('"mine" needs a baseUrl');
    expect(refusal(undefined, {}, [{ name: "deepseek", model: "deepseek-chat" }]).message).toContain("DEEPSEEK_API_KEY");
    expect(refusal(undefined, {}, [{ name: "vllm" }]).message).toContain("--model vllm/ID");
    expect(refusal("vllm/haiku", {}, [{ name: "vllm" }]).message).toContain("no default model");
  });

  test("an alias on another family's server is that server's model", () => {
    const other: ProviderSettings = { name: "ds", protocol: "anthropic", baseUrl: "http://127.0.0.1:1", model: "deepseek-v4" };
    expect(chosen("ds/haiku", {}, [other])).toBe("ds/deepseek-v4");
    expect(chosen("ollama/haiku", {}, [ollama])).toBe("ollama/qwen3-coder");
  });

  test("key, headers and further fields of the settings reach the server", async () => {
    await using server = await rawServer({ steps: [vectorBytes("oai-tool-basic")] });
    const settings = ProvidersSchema.parse([
      {
        name: "mine",
        protocol: "openai",
        baseUrl: `${server.url}/v1`,
        apiKeyEnv: "MY_KEY",
        model: "m",
        headers: { "x-team": "blue" },
        extraBody: { temperature: 0 },
      },
    ]);
    const { client } = selectModel({ providers: settings, env: { MY_KEY: "secret" } });
    const events = await collect(client.stream(modelRequest({ model: "m" }), new AbortController().signal));
    expect(events.at(-1)).toMatchObject({ type: "end", message: { provider: "mine", model: "m" } });
    expect(server.requests[0]?.headers).toMatchObject({ authorization: "Bearer secret", "x-team": "blue" });
    expect(JSON.parse(server.requests[0]?.body ?? "")).toMatchObject({ temperature: 0, model: "m" });
  });

  test("a bearer token is sent as one", async () => {
    await using server = await rawServer({ steps: [vectorBytes("ant-usage-basic")] });
    const { client } = selectModel({ providers: [], env: { ANTHROPIC_AUTH_TOKEN: "t", ANTHROPIC_BASE_URL: server.url } });
    await collect(client.stream(modelRequest(), new AbortController().signal));
    expect(server.requests[0]?.headers.authorization).toBe("Bearer t");
    expect(server.requests[0]?.headers).not.toHaveProperty("x-api-key");
  });
});

test("the settings section refuses an unknown key and a name with a slash", () => {
  expect(ProvidersSchema.safeParse([{ name: "a", baseurl: "x" }]).success).toBe(false);
  expect(ProvidersSchema.safeParse([{ name: "a/b" }]).success).toBe(false);
  expect(ProvidersSchema.safeParse([{ name: "a", protocol: "openai", baseUrl: "file:///x" }]).success).toBe(false);
});

describe("the cheap model for work beside a conversation", () => {
  const cheap = (provider: string, model: string, providers: ProviderSettings[] = []) =>
    cheapModel({ providers, env: BOTH_KEYS }, provider, model);

  test("is the provider's own where it is known, else the one that answers already", () => {
    const glm = ProvidersSchema.parse([{ name: "glm", protocol: "anthropic", baseUrl: "http://127.0.0.1:1", model: "glm-5.3" }]);
    const mine = ProvidersSchema.parse([{ name: "mine", protocol: "openai", baseUrl: "http://127.0.0.1:1" }]);
    expect(cheap("anthropic", "claude-opus-5-5")).toMatch(/^anthropic\/claude-haiku-/);
    expect(cheap("openai", "gpt-5.4")).toMatch(/^openai\/gpt-.*luna/);
    expect(cheap("glm", "glm-5.3-air", glm)).toBe("glm/glm-5.3-air");
    expect(cheap("mine", "qwen3-coder", mine)).toBe("mine/qwen3-coder");
    expect(cheap("gone", "claude-opus-5-5")).toBe("gone/claude-opus-5-5");
  });
});
