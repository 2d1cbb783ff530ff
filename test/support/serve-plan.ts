// Plays a plan file for trials by hand: npx tsx test/support/serve-plan.ts PLAN.json [latency in ms]
import { readFile } from "node:fs/promises";
import { readPlan } from "../../src/interaction/demo/plan.ts";
import { startScriptedModel } from "../../src/interaction/demo/scripted-model.ts";

const [file, latency = "0"] = process.argv.slice(2);
if (file === undefined) throw new Error("Name a plan file.");
const model = await startScriptedModel({
  plan: readPlan(JSON.parse(await readFile(file, "utf8"))),
  latencyMs: Number(latency),
  log: (line) => process.stderr.write(`${JSON.stringify(line)}\n`),
});
process.stdout.write(`export ANTHROPIC_BASE_URL=${model.anthropicUrl} OPENAI_BASE_URL=${model.openaiUrl}\n`);
