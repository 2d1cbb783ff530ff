import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { modelFacts } from "../../../src/engine/providers/models.ts";
import { type SelectModelOptions, selectModel } from "../../../src/engine/providers/select.ts";
import { type ProviderSettings, ProvidersSchema } from "../../../src/engine/providers/settings.ts";

const OPUS = {
  contextWindow: 1_000_000,
  maxOutputTokens: 32_000,
  hasVision: true,
  prices: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
};

describe("the table of models", () => {
  test("finds an id behind a vendor's name, before a date, a region or a size, and with points for dashes", () => {
    for (const id of [
      "claude-opus-4-8",
      "claude-opus-4-8-20260401",
      "anthropic/claude-opus-4.8",
      "us.anthropic.claude-opus-4-8-v1:0",
      "claude-opus-4-8@20260401",
      "Claude-Opus-4-8[1m]",
    ])
      expect([id, modelFacts(id)]).toEqual([id, OPUS]);
  });

  test("takes the longest id that fits, and only whole words of it", () => {
    expect(modelFacts("gpt-5.4-mini-2026-03-17")?.contextWindow).toBe(400_000);
    expect(modelFacts("gpt-5.4-2026-03-05")?.contextWindow).toBe(1_050_000);
    expect(modelFacts("o3-mini")?.prices.input).toBe(1.1);
    expect(modelFacts("o365")).toBeUndefined();
    expect(modelFacts("claude-opus-4-80")).not.toEqual(OPUS);
    expect(modelFacts("constructor")).toBeUndefined();
  });

  test("knows each model that an alias or a default means", () => {
    for (const env of [{ ANTHROPIC_API_KEY: "k" }, { OPENAI_API_KEY: "k" }])
      for (const model of ["sonnet", "opus", "haiku", undefined]) {
        const selected = selectModel({ providers: [], model, env });
        expect([selected.model, selected.notice, selected.prices?.input]).toEqual([selected.model, undefined, expect.any(Number)]);
      }
  });

  test("is small", () => {
    const text = readFileSync(new URL("../../../src/engine/providers/models.json", import.meta.url), "utf8");
    expect(text.length).toBeLessThan(40_000);
  });
});

describe("what is said of a model", () => {
  const chosen = (settings: ProviderSettings, options: Partial<SelectModelOptions> = {}) =>
    selectModel({ providers: ProvidersSchema.parse([settings]), env: { KEY: "k" }, ...options });
  const gateway: ProviderSettings = { name: "gw", protocol: "openai", baseUrl: "https://gw.test/v1", apiKeyEnv: "KEY", model: "my-tune" };

  test("a model that no table knows gets small limits, no price, and one line that says so", () => {
    const selected = chosen(gateway);
    expect(selected).toMatchObject({ contextWindow: 128_000, maxOutputTokens: 16_000, hasVision: true });
    expect(selected).not.toHaveProperty("prices");
    expect(selected.notice).toMatch(/^Nothing is known of the model "my-tune": a window of 128000 tokens .* contextWindow of "gw"/);
    expect(chosen({ ...gateway, contextWindow: 64_000 })).not.toHaveProperty("notice");
    expect(chosen({ ...gateway, model: "glm-5.3" })).not.toHaveProperty("notice");
  });

  test("settings of the model beat those of the provider, and those the table", () => {
    const models = [{ id: "my-tune", contextWindow: 50_000, prices: { input: 2, output: 8, cacheRead: 0.2 } }];
    const settings: ProviderSettings = { ...gateway, contextWindow: 90_000, maxOutputTokens: 5000, models };
    expect(chosen(settings)).toMatchObject({
      contextWindow: 50_000,
      maxOutputTokens: 5000,
      prices: { input: 2, output: 8, cacheRead: 0.2, cacheWrite: 2 },
    });
    expect(chosen(settings, { model: "gw/gpt-5.4" })).toMatchObject({ contextWindow: 90_000, prices: { input: 2.5 } });
  });

  test("a server of one's own costs nothing, whatever it runs; a gateway on loopback that wants a key does not count as one", () => {
    const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    expect(chosen({ name: "ollama", model: "gpt-oss-120b" }).prices).toEqual(free);
    expect(chosen({ name: "mine", protocol: "anthropic", baseUrl: "http://127.0.0.1:1", model: "x" }).prices).toEqual(free);
    expect(chosen({ name: "mine", protocol: "openai", baseUrl: "http://[::1]:1/v1", model: "x" }).contextWindow).toBe(32_000);
    expect(selectModel({ providers: [], env: { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" }, model: "gpt-5.4" }).prices).toEqual(free);
    const proxy: ProviderSettings = { ...gateway, baseUrl: "http://127.0.0.1:1/v1", model: "claude-opus-4-8" };
    expect(chosen(proxy).prices).toEqual(OPUS.prices);
  });

  test("a model that reads no images is known as such", () => {
    expect(chosen({ ...gateway, model: "glm-5.3" }).hasVision).toBe(false);
  });
});
