import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const globals = fileURLToPath(new URL("light-globals.mjs", import.meta.url));
const NAMES = ["Headers", "FormData", "Response", "Request"];

/** esbuild plugin: inside the model SDKs some globals are those of light-globals.mjs. */
export const lightSdk = {
  name: "light-sdk",
  setup(build) {
    build.onLoad({ filter: /node_modules[\\/](@anthropic-ai[\\/]sdk|openai)[\\/].*\.mjs$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const used = NAMES.filter((name) => new RegExp(`\\b(new|instanceof) ${name}\\b`).test(source));
      const imports = used.length > 0 ? `import { ${used.join(", ")} } from ${JSON.stringify(globals)};\n` : "";
      return {
        // Bodies are strings here, and to ask for this one loads Node's web streams.
        contents: imports + (path.endsWith("client.mjs") ? source.replaceAll("globalThis.ReadableStream", "undefined") : source),
        resolveDir: dirname(path),
        loader: "js",
      };
    });
  },
};
