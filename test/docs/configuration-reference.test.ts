import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { configurationReference, settingKeys } from "../../scripts/reference/configuration.ts";
import { DESCRIPTIONS, OTHER_DEFAULTS } from "../../scripts/reference/descriptions.ts";
import { DEFAULTS } from "../../src/runtime/config-report.ts";

test("the reference of the settings is as new as their schemas: npx tsx scripts/reference/configuration.ts", async () => {
  const page = await readFile(new URL("../../docs/configuration-reference.md", import.meta.url), "utf8");
  expect(page).toBe(configurationReference());
});

test("each key of the settings has one sentence, and no sentence or default is of a key that is gone", () => {
  const keys = settingKeys().map(({ key }) => key);
  expect(keys.filter((key) => !DESCRIPTIONS[key]?.endsWith("."))).toEqual([]);
  expect(Object.keys(DESCRIPTIONS).filter((key) => !keys.includes(key))).toEqual([]);
  const defaults = [...Object.keys(OTHER_DEFAULTS), ...DEFAULTS.map(([key]) => key)];
  expect(defaults.filter((key) => !keys.includes(key))).toEqual([]);
});
