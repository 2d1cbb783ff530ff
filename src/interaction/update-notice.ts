import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import * as z from "zod";
import { isErrno, isUnwritable, readOddFile } from "../platform/files.ts";
import { ownEnvironment } from "../platform/own-programs.ts";
import { packageRoot, packageVersion } from "../platform/package.ts";
import type { Surroundings } from "../runtime/surroundings.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** What npm printed. Nothing else of it reaches the terminal. */
const LatestSchema = z.string().regex(/^\d+\.\d+\.\d+$/);
/** Whichever registry npm is configured with; one try, so that nothing lingers where there is no network. */
const ASK_NPM = ["view", "roocode", "version", "--json", "--fetch-retries=0", "--fetch-timeout=10000", "--no-update-notifier"];

type Place = Pick<Surroundings, "env" | "settings" | "data" | "isDataReadOnly">;

/**
 * For a person at a terminal: says what the last check found, and once a day starts the next, which runs by itself and outlives
 * this process. A checkout is never checked: it is no installation, and gets its versions otherwise.
 */
export async function tellOfUpdate({ env, settings, data, isDataReadOnly }: Place, say: (text: string) => void): Promise<void> {
  if (env.CI || env.NO_UPDATE_NOTIFIER || settings.updateCheck === false || isDataReadOnly) return;
  if (!packageRoot().split(sep).includes("node_modules")) return;
  const file = join(data.root, "update-check.json");
  const [latest, current] = [await readLatest(file), packageVersion()];
  if (latest !== undefined && isNewer(latest, current))
    say(
      `RooCode ${latest} is there, this is ${current}. npm install -g roocode updates it; updateCheck: false in the settings ends this check.`,
    );
  if (await isDue(file)) await startCheck(file, env);
}

async function readLatest(file: string): Promise<string | undefined> {
  try {
    return LatestSchema.safeParse(JSON.parse((await readOddFile(file)).text ?? "null")).data;
  } catch (error) {
    // Empty while a check runs, or after one without an answer.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function isNewer(latest: string, current: string): boolean {
  // Of a version before a release only the numbers count.
  const numbers = (version: string) => version.split("-", 1)[0]?.split(".").map(Number) ?? [];
  const [ours, theirs] = [numbers(current), numbers(latest)];
  const at = theirs.findIndex((number, index) => number !== ours[index]);
  return at >= 0 && (theirs[at] ?? 0) > (ours[at] ?? 0);
}

/** The file's time is that of the last check, whether it was answered or not. */
async function isDue(file: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(file)).mtimeMs > DAY_MS;
  } catch (error) {
    if (isErrno(error, "ENOENT")) return true;
    throw error;
  }
}

async function startCheck(file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const folder = dirname(file);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const answer = openSync(file, "w", 0o600);
    // Not in the project: its .npmrc must not choose the registry.
    const child = spawn("npm", ASK_NPM, {
      cwd: folder,
      env: ownEnvironment(env),
      detached: true,
      stdio: ["ignore", answer, "ignore"],
    });
    // Without npm there is nothing to ask.
    child.on("error", () => undefined);
    child.unref();
    closeSync(answer);
  } catch (error) {
    if (!isUnwritable(error)) throw error;
  }
}
