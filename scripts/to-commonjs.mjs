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
    const required = source
      .replaceAll(/\bimport\(("(?:\.\/|node:)[^"]+")\)/g, "Promise.resolve().then(()=>require($1))")
      .replaceAll(/\bimport\(("[^"]+")\)/g, 'require("./outside.cjs").load($1)');
    const { code } = await transform(required, {
      format: "cjs",
      platform: "node",
      target: "node20.19",
      minify: true,
      define: { "import.meta.url": "__url" },
    });
    await writeFile(path, code.includes("__url") ? `const __url=require("node:url").pathToFileURL(__filename).href;${code}` : code);
  }
  // Compiled by Node itself: code from the cache can't import.
  await writeFile(join(folder, "outside.cjs"), "exports.load = (name) => import(name);\n");
  await writeFile(join(folder, "package.json"), '{ "type": "commonjs" }\n');
}
