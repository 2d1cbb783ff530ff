// Makes src/engine/providers/models.json from llm-zoo. Run it by hand after an update of that package, and look at the difference:
//   node scripts/models.mjs && npx biome check --write src/engine/providers/models.json
import { writeFileSync } from "node:fs";
import { MODEL_CONFIGS } from "llm-zoo";

/** Those that src/engine/providers/presets.ts can reach: by a preset of their own, or through OpenRouter. */
const PROVIDERS = new Set(["anthropic", "openai", "deepseek", "glm", "dashscope", "moonshot", "google", "xai", "minimax", "others"]);
/** Ids that llm-zoo does not know yet count as the one that came before. */
const SUCCESSORS = { "claude-haiku-5": "claude-haiku-4-5" };

const models = Object.values(MODEL_CONFIGS).filter(({ provider }) => PROVIDERS.has(provider));
const found = new Map();
for (const model of models) add(model.shortName, model);
const direct = new Set(found.keys());
// OpenRouter has names of its own for some, and none of them beats the vendor's.
for (const model of models) if (model.openrouterFullName) add(model.openrouterFullName.replace(/:.*/, ""), model, direct);
for (const [id, known] of Object.entries(SUCCESSORS)) if (!found.has(id)) found.set(id, found.get(known));

const lines = [...found]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([id, model]) => `  ${JSON.stringify(id)}: ${JSON.stringify(entry(model))}`);
writeFileSync(new URL("../src/engine/providers/models.json", import.meta.url), `{\n${lines.join(",\n")}\n}\n`);
process.stdout.write(`${lines.length} models\n`);

function add(name, model, taken = new Set()) {
  const id = plain(name);
  if (!taken.has(id) && isBetter(model, found.get(id))) found.set(id, model);
}

/** As models.ts spells an id before it looks it up: no vendor in front, no date behind, one sort of separator. */
function plain(id) {
  return id
    .toLowerCase()
    .replace(/^.*\//, "")
    .replaceAll(".", "-")
    .replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, "");
}

/** Of several entries for one id the plain one: in service, and without a surcharge for speed. */
function isBetter(model, other) {
  if (!other) return true;
  if (Boolean(model.retired) !== Boolean(other.retired)) return !model.retired;
  return model.inputPrice < other.inputPrice;
}

function entry({ contextWindow, maxOutputTokens, capabilities, inputPrice, outputPrice }) {
  // Only who has to be asked for caching pays for writing.
  const isAsked = capabilities.supportsPromptCaching && !capabilities.supportsAutoPromptCaching;
  return {
    contextWindow,
    maxOutputTokens,
    hasVision: capabilities.supportsVision,
    prices: {
      input: inputPrice,
      output: outputPrice,
      cacheRead: rounded(inputPrice * capabilities.cacheDiscountFactor),
      cacheWrite: rounded(isAsked ? inputPrice * 1.25 : inputPrice),
    },
  };
}

function rounded(price) {
  return Number(price.toPrecision(6));
}
