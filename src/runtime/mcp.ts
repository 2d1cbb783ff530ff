import { resolve } from "node:path";
import { readOddFile } from "../platform/files.ts";
import { packageVersion } from "../platform/package.ts";
import { projectPaths } from "../platform/paths.ts";
import { UserError } from "../protocol/errors.ts";
import { isRecord } from "../protocol/record.ts";
import { maskSecrets } from "../safety/secrets.ts";
import type { ServerSurroundings } from "../tools/mcp/connection.ts";
import type { ConfiguredServer, ConfiguredServers } from "../tools/mcp/schema.ts";
import type { SessionMcp } from "./agent-mcp.ts";
import type { ProjectWish } from "./settings.ts";
import type { Surroundings } from "./surroundings.ts";

/** Of the project, and not accepted by the person as it is now. */
export type WaitingServer = { name: string; source: string };

/** Servers that a program hands over for the person: a map as under `mcpServers`, and who gave it, for texts. */
export type GivenServers = { raw: Readonly<Record<string, unknown>>; source: string };

export type McpOptions = {
  configFiles: readonly string[];
  given?: GivenServers | undefined;
  /** Told of a server that is not there, and that it is there again. */
  onNotice: (text: string) => void;
  elicit?: ServerSurroundings["elicit"] | undefined;
};

/**
 * Starts the servers that the person configured, and the project's once it is trusted, in the background: nobody waits for them here.
 * Without one, nothing loads.
 */
export async function startMcp(surroundings: Surroundings, options: McpOptions): Promise<{ mcp?: SessionMcp; notes: string[] }> {
  const { servers, problems } = await configuredServers(surroundings, options.configFiles, options.given);
  const configured = servers.filter(({ config }) => !config.disabled);
  if (configured.length === 0) return { notes: problems };
  const { openSessionMcp } = await import("./session-mcp.ts");
  const mcp = openSessionMcp({
    configured,
    surroundings: { ...serverSurroundings(surroundings), ...(options.elicit ? { elicit: options.elicit } : {}) },
    trustStore: surroundings.data.trust,
    loading: surroundings.settings.toolLoading ?? "native",
    onNotice: options.onNotice,
  });
  return { mcp, notes: problems };
}

/**
 * Those of a trusted project, of the user's settings and of files given by the person; of two with one name the later counts, so
 * a project takes no name from the person's own.
 */
export async function configuredServers(
  surroundings: Surroundings,
  configFiles: readonly string[],
  given?: GivenServers,
): Promise<ConfiguredServers & { waiting: WaitingServer[] }> {
  const { settings, data, cwd } = surroundings;
  const { wished, waiting, problems } = await projectServers(surroundings);
  if (wished.length === 0 && settings.mcpServers === undefined && configFiles.length === 0 && !given)
    return { servers: [], waiting, problems };
  const { readServers } = await import("../tools/mcp/schema.ts");
  const own = [...wished, { raw: settings.mcpServers, source: data.config }].map(({ raw, source }) => readServers(raw, source));
  const ofFiles = await Promise.all(configFiles.map((file) => readConfigFile(resolve(cwd, file), file, readServers)));
  const handed = given ? wholeServers(readServers(given.raw, given.source)) : [];
  const all = [...own.flatMap(({ servers }) => servers), ...ofFiles.flat(), ...handed];
  const byName = new Map(all.map((server) => [server.name, server]));
  return { servers: [...byName.values()], waiting, problems: [...problems, ...own.flatMap((each) => each.problems)] };
}

export function serverSurroundings({ cwd, env, root, addDirs, data }: Surroundings): ServerSurroundings {
  return {
    cwd,
    env,
    version: packageVersion(),
    maskSecrets,
    roots: [root, ...addDirs.own],
    signIn: async (url, config) => (await import("./mcp-sign-in.ts")).quietSignIn(data.mcpAuth, url, config),
  };
}

async function readConfigFile(
  path: string,
  shown: string,
  readServers: (raw: unknown, source: string) => ConfiguredServers,
): Promise<ConfiguredServer[]> {
  const { text, problem } = await readOddFile(path);
  if (problem !== undefined) throw new UserError(`${shown} ${problem} (--mcp-config).`);
  if (text === undefined) throw new UserError(`There is no file ${shown} (--mcp-config).`);
  const content = parseJson(text, shown);
  if (typeof content !== "object" || content === null || !("mcpServers" in content))
    throw new UserError(`${shown}: mcpServers: is missing; the file is {"mcpServers": {"name": {"command": …} or {"url": …}}}.`);
  return wholeServers(readServers(content.mcpServers, shown));
}

/** What a person gave is taken as a whole. */
function wholeServers({ servers, problems }: ConfiguredServers): ConfiguredServer[] {
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

/** What a repository brings along would run as the person who opens it: a server starts once exactly that was accepted. */
async function projectServers(
  surroundings: Surroundings,
): Promise<{ wished: ProjectWish["servers"]; waiting: WaitingServer[]; problems: string[] }> {
  const { projectRoot, projectWish } = surroundings;
  const { mcp } = projectPaths(projectRoot);
  const { text, problem } = await readOddFile(mcp);
  if (problem !== undefined) return { wished: [], waiting: [], problems: [`${mcp} ${problem}; its servers are left out.`] };
  if (text === undefined && projectWish.servers.length === 0) return { wished: [], waiting: [], problems: [] };
  const shared = sharedServers(text, mcp);
  const [{ projectRules }, { serverItem }] = await Promise.all([import("./permissions.ts"), import("./project-items.ts")]);
  const { isTrusted, items } = await projectRules(surroundings);
  const isAccepted = ([name, server]: [string, unknown]) => isTrusted && items.includes(serverItem(name, server));
  const all = [...shared.wished, ...projectWish.servers];
  const waiting = all.flatMap(({ raw, source }) =>
    isRecord(raw) ? Object.entries(raw).flatMap((entry) => (isAccepted(entry) ? [] : [{ name: entry[0], source }])) : [],
  );
  const wished = all.map(({ raw, source }) => ({
    raw: isRecord(raw) ? Object.fromEntries(Object.entries(raw).filter(isAccepted)) : raw,
    source,
  }));
  return { wished: isTrusted ? wished : [], waiting, problems: shared.problems };
}

function sharedServers(text: string | undefined, path: string): { wished: ProjectWish["servers"]; problems: string[] } {
  if (text === undefined) return { wished: [], problems: [] };
  try {
    const content = parseJson(text, path);
    const raw = isRecord(content) ? content.mcpServers : undefined;
    return { wished: raw === undefined ? [] : [{ raw, source: path }], problems: [] };
  } catch (error) {
    return { wished: [], problems: [error instanceof Error ? error.message : String(error)] };
  }
}
