import { PRESETS } from "../engine/providers/presets.ts";
import type { Prices } from "../protocol/model.ts";
import type { ConfigReport, ModelInForce } from "../runtime/config-report.ts";

/** What is in force and where it comes from, for a person. */
export function configText({ files, settings, model, providers, rules, environment, problems, notes }: ConfigReport): string {
  const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)]);
  const lines = [
    ...section("Model", "error" in model ? model.error.split("\n") : modelLines(model)),
    ...section(
      "Settings",
      settings.map(({ key, value, source, place }) => `${key}: ${JSON.stringify(value)}  (${place ? `${source}, ${place}` : source})`),
    ),
    ...section(
      "Providers",
      providers.map(({ name, protocol, baseUrl, from, keyVariable, hasKey }) => {
        const key = keyVariable === undefined ? "no key" : `${keyVariable} is ${hasKey ? "set" : "not set"}`;
        return `${name}: ${protocol}, ${baseUrl}, ${key}  (${from})`;
      }),
    ),
    `  Presets: ${Object.keys(PRESETS).join(", ")}`,
    ...section(
      "Rules",
      rules.map(({ effect, text, level }) => `${effect} ${text}  (${level})`),
    ),
    ...section(
      "Environment",
      environment.map(({ name, isSet }) => `${name} is ${isSet ? "set" : "not set"}`),
    ),
    ...section(
      "Files, the later over the earlier",
      files.map(({ level, path, exists }) => `${level}: ${path}${exists ? "" : "  (not there)"}`),
    ),
    ...section("Problems", problems),
    ...section("Notes", notes),
  ];
  return lines.join("\n").trim();
}

function modelLines(model: ModelInForce): string[] {
  const { provider, model: id, contextWindow, maxOutputTokens, prices, hasVision, why, notice } = model;
  return [
    `${provider}/${id}: ${why}`,
    `window ${contextWindow} tokens, answers up to ${maxOutputTokens}, ${hasVision ? "images" : "no images"}`,
    prices ? pricesText(prices) : "prices are not known",
    ...(notice ? [notice] : []),
  ];
}

function pricesText({ input, output, cacheRead, cacheWrite }: Prices): string {
  return `$ for a million tokens: input ${input}, output ${output}, cache read ${cacheRead}, cache write ${cacheWrite}`;
}
