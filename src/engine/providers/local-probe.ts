import { builtin } from "./builtin.ts";
import { PRESETS } from "./presets.ts";
import { at, countAt, listAt, parseJson, textAt } from "./wire.ts";

const SERVERS = ["ollama", "lmstudio", "llama.cpp", "vllm"] as const;
export type LocalServer = (typeof SERVERS)[number];
export type LocalModel = {
  provider: LocalServer;
  model: string;
  baseUrl: string;
  /** Absent where the server does not tell. */
  contextWindow?: number;
};

/** Less holds no system prompt, tools and a file beside them. */
const LEAST_WINDOW = 16_000;
/** Ollama cuts what is longer than its own setting without a word, and that is often less than the model could. */
const OLLAMA_WINDOW = 32_000;
const MOST_ASKED = 10;
const TITLES: Readonly<Record<LocalServer, string>> = { ollama: "Ollama", lmstudio: "LM Studio", "llama.cpp": "llama.cpp", vllm: "vLLM" };

export function titleOf(server: LocalServer): string {
  return TITLES[server];
}

/**
 * The first of the local servers that has a model which calls tools, as far as the server tells, and holds enough. `urls` are base
 * URLs that stand elsewhere than usual. All are asked at once; one that does not answer within `timeoutMs` is not there.
 */
export async function probeLocal(urls: Partial<Record<LocalServer, string>> = {}, timeoutMs = 300): Promise<LocalModel | undefined> {
  const found = await Promise.all(
    SERVERS.map(async (server): Promise<LocalModel | undefined> => {
      const baseUrl = urls[server] ?? PRESETS[server]?.baseUrl ?? "";
      const ask = asker(new URL(baseUrl).origin, AbortSignal.timeout(timeoutMs));
      const model = (await MODELS[server](ask)).find(isUsable);
      if (!model) return undefined;
      const { id, contextWindow } = model;
      return { provider: server, model: id, baseUrl, ...(contextWindow === undefined ? {} : { contextWindow }) };
    }),
  );
  return found.find((one) => one !== undefined);
}

/** What a server tells of a model; what is undefined it does not tell. */
type Told = { id: string; hasTools?: boolean; contextWindow?: number };
/** JSON of one path; undefined for anything but a good answer in time. */
type Ask = (path: string, body?: object) => Promise<unknown>;

/** Whoever listens there chooses the name, which is shown on the terminal. */
function isUsable({ id, hasTools = true, contextWindow = LEAST_WINDOW }: Told): boolean {
  return /^[\x21-\x7e]{1,200}$/.test(id) && hasTools && contextWindow >= LEAST_WINDOW;
}

const MODELS: Readonly<Record<LocalServer, (ask: Ask) => Promise<Told[]>>> = {
  async ollama(ask) {
    const names = listAt(await ask("/api/tags"), "models").map((entry) => textAt(entry, "name"));
    return Promise.all(names.slice(0, MOST_ASKED).map(async (name) => ollamaModel(name, await ask("/api/show", { model: name }))));
  },
  async lmstudio(ask) {
    const models = listAt(await ask("/api/v0/models"), "data").filter((one) => textAt(one, "type") !== "embeddings");
    if (models.length === 0) return listed(await ask("/v1/models"));
    const isLoaded = (one: unknown) => textAt(one, "state") === "loaded";
    return [...models.filter(isLoaded), ...models.filter((one) => !isLoaded(one))].map((one) => {
      const capabilities = at(one, "capabilities");
      return told(
        textAt(one, "id"),
        Array.isArray(capabilities) ? capabilities.includes("tool_use") : undefined,
        countAt(one, "loaded_context_length") ?? countAt(one, "max_context_length"),
      );
    });
  },
  async "llama.cpp"(ask) {
    const [props, models] = await Promise.all([ask("/props"), ask("/v1/models")]);
    const template = textAt(props, "chat_template");
    const hasTools = template === "" ? undefined : template.includes("tool");
    const window = countAt(props, "default_generation_settings", "n_ctx");
    return listed(models).map(({ id, contextWindow }) => told(id, hasTools, window ?? contextWindow));
  },
  async vllm(ask) {
    return listed(await ask("/v1/models"));
  },
};

function ollamaModel(name: string, shown: unknown): Told {
  const capabilities = at(shown, "capabilities");
  const info = Object.entries(at(shown, "model_info") ?? {});
  const length = info.find(([key]) => key.endsWith(".context_length"))?.[1];
  const configured = Number(/^num_ctx\s+(\d+)/m.exec(textAt(shown, "parameters"))?.[1] ?? 0);
  const most = typeof length === "number" ? Math.min(length, OLLAMA_WINDOW) : undefined;
  // One that was not shown in time is none.
  return told(
    shown === undefined ? "" : name,
    Array.isArray(capabilities) ? capabilities.includes("tools") : undefined,
    configured || most,
  );
}

/** The list that all servers with OpenAI's protocol have; some add how much a model holds. */
function listed(answer: unknown): Told[] {
  return listAt(answer, "data").map((one) =>
    told(textAt(one, "id"), undefined, countAt(one, "max_model_len") ?? countAt(one, "meta", "n_ctx")),
  );
}

function told(id: string, hasTools: boolean | undefined, contextWindow: number | undefined): Told {
  return { id, ...(hasTools === undefined ? {} : { hasTools }), ...(contextWindow === undefined ? {} : { contextWindow }) };
}

/** Straight to the loopback, past all proxies. */
function asker(origin: string, signal: AbortSignal): Ask {
  return (path, body) =>
    new Promise((resolve) => {
      const nothing = () => resolve(undefined);
      const headers = body ? { "content-type": "application/json" } : {};
      const { request } = builtin(origin.startsWith("https:") ? "node:https" : "node:http");
      const sent = request(`${origin}${path}`, { method: body ? "POST" : "GET", headers, signal, agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => {
          text += part;
        });
        response.on("error", nothing);
        response.on("end", () => resolve(response.statusCode === 200 ? parseJson(text) : undefined));
      });
      // Nobody listens, or not in time: that is the answer.
      sent.on("error", nothing);
      sent.end(body ? JSON.stringify(body) : undefined);
    });
}
