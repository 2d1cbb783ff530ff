// Builds dist/: one entry plus lazy chunks. Only @vscode/ripgrep stays outside, because it carries a binary.
import { readFile, rm, writeFile } from "node:fs/promises";
import { build } from "esbuild";
import { lightSdk } from "./light-sdk.mjs";
import { mergeChunks } from "./merge-chunks.mjs";
import { toCommonJs } from "./to-commonjs.mjs";

/** A table as a string that is parsed when its module runs: V8 takes several times as long for the same as an object literal. */
const tables = {
  name: "tables",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.json$/ }, async ({ path }) => {
      const json = JSON.stringify(JSON.parse(await readFile(path, "utf8")));
      return { contents: `export default JSON.parse(${JSON.stringify(json)});`, loader: "js" };
    }),
};

const root = new URL("..", import.meta.url).pathname;
const { version } = JSON.parse(await readFile(`${root}package.json`, "utf8"));
await rm(`${root}dist`, { recursive: true, force: true });
const result = await build({
  absWorkingDir: decodeURIComponent(root),
  entryPoints: { main: "src/main.ts" },
  outdir: "dist",
  bundle: true,
  splitting: true,
  minify: true,
  metafile: true,
  keepNames: false,
  platform: "node",
  format: "esm",
  target: "node20.19",
  external: ["@vscode/ripgrep"],
  plugins: [lightSdk, tables],
  define: { ROOCODE_VERSION: JSON.stringify(version) },
  logLevel: "warning",
});
await writeFile(`${root}dist/meta.json`, JSON.stringify(result.metafile));
const starts = [["src/interaction/commands/plain-print.ts", "src/interaction/commands/print.ts"], ["src/interaction/commands/worker.ts"]];
const adapters = ["anthropic", "openai", "responses"].map((name) => `src/engine/providers/${name}.ts`);
await mergeChunks(decodeURIComponent(`${root}dist`), result.metafile, starts, adapters);
await toCommonJs(decodeURIComponent(`${root}dist`));
const entry = result.metafile.outputs["dist/main.js"];
process.stdout.write(`dist/main.js ${Math.round(entry.bytes / 1024)} kB, ${Object.keys(result.metafile.outputs).length} files\n`);
