import { access, constants, mkdtemp, rm, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { exists } from "../../platform/files.ts";
import { projectRules } from "../permissions.ts";
import type { Surroundings } from "../surroundings.ts";
import { type Check, fail, off, ok, warn } from "./check.ts";
import { modelChecks } from "./endpoint.ts";
import { machineChecks } from "./machine.ts";

const LEAST_FREE_BYTES = 200 * 1024 * 1024;

/** Everything that RooCode needs here, each with its mend. Nothing is left behind. */
export async function examine(surroundings: Surroundings, { offline }: { offline: boolean }): Promise<Check[]> {
  const [machine, data, settings, model] = await Promise.all([
    machineChecks(surroundings),
    dataFolder(surroundings.data.root),
    settingsChecks(surroundings),
    modelChecks(surroundings, offline),
  ]);
  return [...machine, data, ...settings, ...model];
}

async function dataFolder(root: string): Promise<Check> {
  const mend = "Set ROOCODE_HOME to a folder that you may write to.";
  let nearest = root;
  while (!(await exists(nearest)) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  try {
    await access(nearest, constants.W_OK);
    // A folder may say that it can be written to and stand on a file system that can't.
    await rm(await mkdtemp(join(nearest, ".roocode-doctor-")), { recursive: true });
  } catch (error) {
    return fail("data folder", `${root} can't be written to (${error instanceof Error ? error.message : String(error)}).`, mend);
  }
  const { bavail, bsize } = await statfs(nearest);
  if (bavail * bsize < LEAST_FREE_BYTES)
    return warn(
      "data folder",
      `${root}: only ${Math.round((bavail * bsize) / 1024 / 1024)} MB are free.`,
      "Free some space: sessions are kept there.",
    );
  return ok("data folder", `${root} can be written to.`);
}

async function settingsChecks(surroundings: Surroundings): Promise<Check[]> {
  const { warnings, untrusted } = await projectRules(surroundings);
  // The first one of a data folder that is read-only stands under its own name.
  const own = surroundings.isDataReadOnly ? surroundings.warnings.slice(1) : surroundings.warnings;
  const problems = [...new Set([...own, ...warnings])].filter((text) => text !== untrusted);
  const found = problems.map((text, index) =>
    warn("settings", text, index === problems.length - 1 ? 'Mend it there; "roocode config" shows what is in force.' : ""),
  );
  if (untrusted !== undefined) found.push(off("trust", untrusted));
  return problems.length === 0 ? [ok("settings", "Nothing is wrong with them."), ...found] : found;
}
