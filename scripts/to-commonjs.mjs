// Makes the ES modules of a build CommonJS: only so can Node 20 keep compiled code (bin/compile-cache.cjs). esbuild splits ES
// modules only, hence the second step.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";

export async function toCommonJs(folder) {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".js")) continue;
    const path = join(folder, name);
    const source = await readFile(path, "utf8");
    const { code } = await transform(source.replaceAll(/\bimport\(("(?:\.\/|node:)[^"]+")\)/g, "Promise.resolve().then(()=>require($1))"), {
      format: "cjs",
      platform: "node",
      target: "node20.19",
      minify: true,
      define: { "import.meta.url": "__url" },
    });
    await writeFile(path, code.includes("__url") ? `const __url=require("node:url").pathToFileURL(__filename).href;${code}` : code);
  }
  await writeFile(join(folder, "package.json"), '{ "type": "commonjs" }\n');
}
