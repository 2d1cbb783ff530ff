import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

test("dependency-cruiser reads every module of src and finds no forbidden import", async () => {
  const files = (await readdir("src", { recursive: true })).filter((name) => name.endsWith(".ts"));
  const { stdout } = await run("npx", ["depcruise", "--config", "dependency-cruiser.cjs", "--output-type", "json", "src"], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const report = JSON.parse(stdout) as { modules: { source: string }[]; summary: { violations: unknown[] } };
  const cruised = report.modules.map((module) => module.source).filter((source) => /^src\/.*\.ts$/.test(source));
  expect(cruised.length).toBe(files.length);
  expect(report.summary.violations).toEqual([]);
});
