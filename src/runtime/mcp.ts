import { resolve } from "node:path";
import { exists, readTextOrUndefined } from "../platform/files.ts";
import { packageVersion } from "../platform/package.ts";
import { projectPaths } from "../platform/paths.ts";
import { UserError } from "../protocol/errors.ts";
import type { Tool } from "../protocol/tool.ts";
import { maskSecrets } from "../safety/secrets.ts";
import type { ConfiguredServer, ConfiguredServers } from "../tools/mcp/schema.ts";
import type { ServerSurroundings } from "../tools/mcp/servers.ts";
import type { Surroundings } from "./surroundings.ts";

export type SessionMcp = AsyncDisposable & {
  tools: readonly Tool[];
  status: { name: string; status: "connected" | "failed" }[];
  notes: string[];
};

/** Starts the servers that the person configured and waits for all of them, at most ten seconds. Without one, nothing loads. */
export async function startMcp(surroundings: Surroundings, configFiles: readonly string[]): Promise<SessionMcp> {
  const { servers: configured, problems } = await configuredServers(surroundings, configFiles);
  const notes = [...problems, ...(await projectNote(surroundings, configFiles))];
  if (configured.length === 0) return { tools: [], status: [], notes, [Symbol.asyncDispose]: async () => undefined };
  const [{ openServers }, { mcpTools }] = await Promise.all([import("../tools/mcp/servers.ts"), import("../tools/mcp/as-tool.ts")]);
  const opened = await openServers(configured, serverSurroundings(surroundings));
  const names = configured.map((server) => server.name);
  const there = new Set(opened.servers.map((server) => server.name));
  return {
    tools: mcpTools(opened.servers, names, maskSecrets),
    status: names.map((name) => ({ name, status: there.has(name) ? "connected" : "failed" })),
    notes: [...notes, ...opened.notes],
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** Those of the user's settings and of files given by the person; of two with one name the later counts. */
export async function configuredServers(
  { settings, data, cwd }: Pick<Surroundings, "settings" | "data" | "cwd">,
  configFiles: readonly string[],
): Promise<ConfiguredServers> {
  if (settings.mcpServers === undefined && configFiles.length === 0) return { servers: [], problems: [] };
  const { readServers } = await import("../tools/mcp/schema.ts");
  const own = readServers(settings.mcpServers, data.config);
  const given = await Promise.all(configFiles.map((file) => readConfigFile(resolve(cwd, file), file, readServers)));
  const byName = new Map([...own.servers, ...given.flat()].map((server) => [server.name, server]));
  return { servers: [...byName.values()], problems: own.problems };
}

export function serverSurroundings({ cwd, env }: Pick<Surroundings, "cwd" | "env">): ServerSurroundings {
  return { cwd, env, version: packageVersion(), maskSecrets };
}

async function readConfigFile(
  path: string,
  shown: string,
  readServers: (raw: unknown, source: string) => ConfiguredServers,
): Promise<ConfiguredServer[]> {
  const text = await readTextOrUndefined(path);
  if (text === undefined) throw new UserError(`There is no file ${shown} (--mcp-config).`);
  const content = parseJson(text, shown);
  if (typeof content !== "object" || content === null || !("mcpServers" in content))
    throw new UserError(`${shown}: mcpServers: is missing; the file is {"mcpServers": {"name": {"command": …} or {"url": …}}}.`);
  const { servers, problems } = readServers(content.mcpServers, shown);
  if (problems[0] !== undefined) throw new UserError(problems[0]);
  return servers;
}

function parseJson(text: string, shown: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError(`${shown} is no JSON: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
  }
}

/** What a repository brings along would run as the person who opens it. */
async function projectNote({ projectRoot, cwd }: Surroundings, configFiles: readonly string[]): Promise<string[]> {
  const { mcp } = projectPaths(projectRoot);
  if (configFiles.some((file) => resolve(cwd, file) === mcp) || !(await exists(mcp))) return [];
  return [`${mcp}: a project's servers are not started. To start them: --mcp-config ${mcp}`];
}
