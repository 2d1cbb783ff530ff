import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { runCommand } from "../../src/platform/process.ts";
import { childEnvironment } from "../support/home.ts";
import { tempFolder } from "../support/temp.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname);
/** Today it is 1.1 MB packed; a table or a library that slips in is more than the rest. */
const MAX_BYTES = 1_500_000;

const PackSchema = z.object({
  filename: z.string(),
  size: z.number(),
  files: z.array(z.object({ path: z.string() })),
});

/** Some versions of npm give a list, some a map by name. */
async function pack(home: string, ...args: string[]) {
  // Without scripts: building again would take dist/ away from tests that run it.
  const words = ["pack", "--json", "--ignore-scripts", "--offline", ...args];
  const { stdout } = await runCommand("npm", words, {
    cwd: ROOT,
    env: { ...childEnvironment(home), npm_config_cache: join(home, ".npm") },
  });
  const [packed] = z.array(PackSchema).parse(Object.values(JSON.parse(stdout)));
  if (!packed) throw new Error("npm packed nothing.");
  return packed;
}

test("the package has what runs and what its texts lead to, and nothing else", async () => {
  await using home = await tempFolder("roocode-pack");
  const { files, size } = await pack(home.path, "--dry-run");
  const paths = files.map(({ path }) => path);
  const outside = paths.filter(
    (path) => !/^(?:dist\/[\w.-]+\.(?:js|cjs|json)|bin\/|agents\/|commands\/|skills\/|README|docs\/[\w.-]+\.md$)/.test(path),
  );
  expect(outside.sort()).toEqual(["CHANGELOG.md", "LICENSE", "package.json"]);
  expect(paths).toEqual(expect.arrayContaining(["bin/roocode.js", "dist/main.js", "dist/package.json", "docs/mcp.md", "agents/worker.md"]));
  expect(paths).not.toContain("dist/meta.json");
  expect(size).toBeLessThan(MAX_BYTES);
});

test("an unpacked package runs the demo: without an install script, a network, or anything beside it", async () => {
  await using home = await tempFolder("roocode-pack");
  const { filename } = await pack(home.path, "--pack-destination", home.path);
  await runCommand("tar", ["-xzf", filename], { cwd: home.path });
  await rename(join(home.path, "package"), join(home.path, "lib"));
  expect(await readdir(join(home.path, "lib"))).not.toContain("node_modules");
  const env = {
    ...childEnvironment(home.path),
    TMPDIR: home.path,
    // Whoever would ask the network gets no answer.
    HTTPS_PROXY: "http://127.0.0.1:9",
    HTTP_PROXY: "http://127.0.0.1:9",
  };
  const child = spawn(process.execPath, [join(home.path, "lib", "bin", "roocode.js"), "demo", "--backend", "process"], {
    cwd: home.path,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let shown = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes) => {
      shown += bytes;
    });
  const [code] = await once(child, "close");
  expect(shown).toContain("The sample's tests pass");
  expect(code).toBe(0);
}, 120_000);
