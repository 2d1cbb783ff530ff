// Plays a plan for trials by hand:
//   npx tsx test/support/serve-plan.ts PLAN.json [latency in ms]
//   npx tsx test/support/serve-plan.ts --for REPOSITORY TEAMMATES [check command]
import { readFile } from "node:fs/promises";
import { readPlan } from "../../src/interaction/demo/plan.ts";
import { startScriptedModel } from "../../src/interaction/demo/scripted-model.ts";
import { planFor } from "./plan-for.ts";

const [first, second = "0", third = "4", check] = process.argv.slice(2);
if (first === undefined) throw new Error("Name a plan file, or --for REPOSITORY TEAMMATES.");
const isMade = first === "--for";
const plan = readPlan(isMade ? await planFor(second, Number(third), check) : JSON.parse(await readFile(first, "utf8")));
const model = await startScriptedModel({
  plan,
  latencyMs: isMade ? 0 : Number(second),
  log: (line) => process.stderr.write(`${JSON.stringify(line)}\n`),
});
process.stdout.write(
  [
    "# for one protocol, in another terminal:",
    `export ANTHROPIC_BASE_URL=${model.anthropicUrl} ANTHROPIC_API_KEY=scripted`,
    `export OPENAI_BASE_URL=${model.openaiUrl} OPENAI_API_KEY=scripted`,
    "",
  ].join("\n"),
);
