import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LocalModel } from "../../src/engine/providers/local-probe.ts";
import { withLocalModel } from "../../src/runtime/local-model.ts";
import { type GlobalFlags, readSurroundings } from "../../src/runtime/surroundings.ts";
import { testHome } from "../support/home.ts";
import { rawServer } from "../support/raw-sse.ts";
import { tempFolder } from "../support/temp.ts";

const FOUND: LocalModel = { provider: "ollama", model: "qwen3-coder", baseUrl: "http://127.0.0.1:11434/v1", contextWindow: 32_000 };
const probe = async () => FOUND;

async function surroundingsIn(folder: string, flags: GlobalFlags = {}) {
  return readSurroundings(folder, { HOME: folder }, flags);
}

test("with nothing configured the person is asked once; yes is remembered", async () => {
  await using folder = await tempFolder();
  const surroundings = await surroundingsIn(folder.path);
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return "";
  };
  for (const _ of [1, 2]) {
    const { settings, flags } = await withLocalModel(surroundings, { ask, probe });
    expect(flags.model).toBe("ollama/qwen3-coder");
    expect(settings.providers).toEqual([{ name: "ollama", baseUrl: FOUND.baseUrl, contextWindow: 32_000, model: "qwen3-coder" }]);
  }
  expect(questions).toEqual(["Found qwen3-coder on Ollama, use it? [Y/n] "]);
});

test("no is remembered too, and no answer is not", async () => {
  await using folder = await tempFolder();
  const surroundings = await surroundingsIn(folder.path);
  const answers = [undefined, "n"];
  for (const left of [1, 0, 0]) {
    expect(await withLocalModel(surroundings, { ask: async () => answers.shift(), probe })).toEqual(surroundings);
    expect(answers).toHaveLength(left);
  }
  expect(JSON.parse(await readFile(join(folder.path, ".roocode", "local-models.json"), "utf8"))).toEqual({
    accepted: [],
    refused: ["ollama/qwen3-coder"],
  });
});

test("where nobody can be asked, only the model `local` takes a local server; the window of the settings beats what was found", async () => {
  await using folder = await tempFolder();
  const plain = await surroundingsIn(folder.path);
  expect(await withLocalModel(plain, { probe })).toEqual(plain);
  await mkdir(join(folder.path, ".roocode"));
  await writeFile(
    join(folder.path, ".roocode", "config.yaml"),
    'model: local\nproviders: [{name: ollama, baseUrl: "http://127.0.0.1:7/v1", contextWindow: 50000}]\n',
  );
  const asked: object[] = [];
  const { settings, flags } = await withLocalModel(await surroundingsIn(folder.path), {
    probe: async (urls) => {
      asked.push(urls);
      return { ...FOUND, baseUrl: urls.ollama ?? "" };
    },
  });
  expect(asked).toEqual([{ ollama: "http://127.0.0.1:7/v1" }]);
  expect(flags.model).toBe("ollama/qwen3-coder");
  expect(settings.providers).toEqual([{ name: "ollama", baseUrl: "http://127.0.0.1:7/v1", contextWindow: 50_000, model: "qwen3-coder" }]);
});

test("`--model local` talks to the server that answers, and is exit 2 with the four lines when none does", async () => {
  await using home = await testHome({ "f.txt": "one\n" });
  const chunk = (choice: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
  await using server = await rawServer(
    { steps: ['{"data":[{"id":"tiny","max_model_len":40000}]}'] },
    { steps: [chunk({ delta: { content: "From here." } }), chunk({ delta: {}, finish_reason: "stop" }), "data: [DONE]\n\n"] },
  );
  await mkdir(home.data, { recursive: true });
  const providers = (url: string) =>
    `providers:\n${["ollama", "lmstudio", "llama.cpp"].map((name) => `  - {name: ${name}, baseUrl: "http://127.0.0.1:9/v1"}\n`).join("")}  - {name: vllm, baseUrl: "${url}"}\n`;
  await writeFile(join(home.data, "config.yaml"), providers(`${server.url}/v1`));
  const run = await home.roocode(["-p", "x", "--model", "local"], { env: { ANTHROPIC_API_KEY: "k" } });
  expect(run).toEqual({ code: 0, stdout: "From here.\n", stderr: "" });
  expect(JSON.parse(server.requests.at(-1)?.body ?? "").model).toBe("tiny");
  await writeFile(join(home.data, "config.yaml"), providers("http://127.0.0.1:9/v1"));
  const none = await home.roocode(["-p", "x", "--model", "local"], { env: { ANTHROPIC_API_KEY: "k" } });
  expect(none).toMatchObject({ code: 2, stdout: "" });
  expect(none.stderr.trim().split("\n")).toHaveLength(4);
});
