import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build, type Plugin } from "esbuild";
import { expect, test } from "vitest";
// The build's scripts are plain JavaScript.
// @ts-expect-error
import { lightSdk } from "../../../scripts/light-sdk.mjs";
import { selectModel } from "../../../src/engine/providers/select.ts";
import { rawServer } from "../../support/raw-sse.ts";
import { modelRequest } from "../../support/requests.ts";
import { collect, vectorBytes } from "../../support/streams.ts";
import { tempFolder } from "../../support/temp.ts";

const select = new URL("../../../src/engine/providers/select.ts", import.meta.url).pathname;
const ENTRY = `
import { selectModel } from ${JSON.stringify(select)};
const { client } = selectModel({ providers: [], env: process.env });
let stop;
for await (const event of client.stream(JSON.parse(process.argv[2]), new AbortController().signal)) stop = event.stop ?? stop;
const loaded = process.moduleLoadList.some((name) => name.includes("undici"));
process.stdout.write(JSON.stringify({ stop, loaded }));
`;

/** What differs between two processes or two connections. */
const IGNORED = new Set(["host", "connection"]);

test("a bundled process sends the same request as an unbundled one, and never loads Node's own fetch", async () => {
  await using folder = await tempFolder();
  await writeFile(join(folder.path, "entry.mjs"), ENTRY);
  // A plain object with the shape of a plugin.
  const plugins = [lightSdk as Plugin];
  const outfile = join(folder.path, "out.mjs");
  const banner = { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' };
  await build({
    entryPoints: [join(folder.path, "entry.mjs")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    plugins,
    banner,
    logLevel: "error",
  });
  for (const [vector, env] of [
    ["ant-usage-basic", (url: string) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url })],
    ["oai-finish-no-done", (url: string) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${url}/v1` })],
  ] as const) {
    await using server = await rawServer({ steps: [vectorBytes(vector)] });
    const environment = { PATH: process.env.PATH, ...env(server.url) };
    const { stdout } = await promisify(execFile)(process.execPath, [outfile, JSON.stringify(modelRequest())], { env: environment });
    expect(JSON.parse(stdout)).toEqual({ stop: "end_turn", loaded: false });
    await collect(selectModel({ providers: [], env: environment }).client.stream(modelRequest(), new AbortController().signal));
    const [bundled, plain] = server.requests.map(({ headers, ...rest }) => ({
      ...rest,
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !IGNORED.has(name))),
    }));
    expect(bundled).toEqual(plain);
  }
});
