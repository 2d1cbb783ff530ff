// Joins the many small chunks that every start needs into one file each. esbuild makes a chunk for each set of entries that
// share a module, and Node's loader takes a millisecond of CPU for each file: a quarter of the way to the first model request.
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

/**
 * `starts` are the ways to start, each with its entries: what all of them load becomes one file, what one adds another. Of `choices`
 * one is loaded later: what they share beyond that becomes one more file.
 */
export async function mergeChunks(folder, { outputs }, starts, choices) {
  const chunkOf = (source) => Object.keys(outputs).find((name) => outputs[name].entryPoint === source);
  const stays = loadedWith(outputs, [chunkOf("src/main.ts")]);
  const needs = starts.map((sources) => loadedWith(outputs, sources.map(chunkOf)));
  const isFree = (name) => !stays.has(name) && outputs[name].entryPoint === undefined;
  const common = [...needs[0]].filter((name) => isFree(name) && needs.every((need) => need.has(name)));
  const later = [...loadedWith(outputs, choices.map(chunkOf))].filter(isFree);
  const groups = [common, ...needs.map((need) => [...need].filter((name) => isFree(name) && !common.includes(name))), later];
  const taken = new Set();
  const moved = new Map();
  for (const [index, group] of groups.entries()) {
    const chunks = group.filter((name) => !taken.has(name)).map((name) => name.slice(name.indexOf("/") + 1));
    if (chunks.length < 2) continue;
    for (const name of group) taken.add(name);
    await joinChunks(folder, chunks, `core-${index}.js`, outputs, moved);
  }
  for (const name of moved.keys()) await rm(join(folder, name));
  for (const name of await readdir(folder)) if (name.endsWith(".js")) await pointToCores(join(folder, name), moved);
}

/** All files that a static import chain from these reaches, themselves included. */
function loadedWith(outputs, names) {
  const found = new Set();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    open.push(...outputs[name].imports.filter((one) => one.kind === "import-statement" && outputs[one.path]).map((one) => one.path));
  }
  return found;
}

/** One file with all exports of these chunks; a chunk's number before each name keeps equal names apart. */
async function joinChunks(folder, chunks, target, outputs, moved) {
  const prefix = new Map(chunks.map((name, index) => [name, `c${index}_`]));
  const lines = chunks.map((name) => {
    const names = outputs[`dist/${name}`].exports.map((one) => `${one} as ${prefix.get(name)}${one}`);
    return names.length > 0 ? `export { ${names.join(", ")} } from "./${name}";` : `import "./${name}";`;
  });
  await build({
    stdin: { contents: lines.join("\n"), resolveDir: folder },
    outfile: join(folder, target),
    bundle: true,
    minifyWhitespace: true,
    minifySyntax: true,
    minifyIdentifiers: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    plugins: [
      {
        name: "others-stay-outside",
        setup: ({ onResolve }) =>
          onResolve({ filter: /./ }, ({ path, kind }) =>
            kind === "entry-point" || prefix.has(path.slice(2)) ? undefined : { path, external: true },
          ),
      },
    ],
    logLevel: "warning",
  });
  for (const name of chunks) moved.set(name, { target, prefix: prefix.get(name) });
}

async function pointToCores(path, moved) {
  const text = await readFile(path, "utf8");
  const changed = text.replaceAll(/\bimport\s*(?:\{([^}]*)\}\s*from\s*)?"\.\/([\w.-]+\.js)"/g, (whole, names, file) => {
    const place = moved.get(file);
    if (!place) return whole;
    if (names === undefined) return `import"./${place.target}"`;
    const list = names.split(",").map((one) => {
      const [name, local = name] = one.trim().split(/\s+as\s+/);
      return `${place.prefix}${name} as ${local}`;
    });
    return `import{${list.join(",")}}from"./${place.target}"`;
  });
  const left = [...moved.keys()].find((name) => changed.includes(`./${name}"`));
  if (left) throw new Error(`${path} still needs ${left}`);
  if (changed !== text) await writeFile(path, changed);
}
