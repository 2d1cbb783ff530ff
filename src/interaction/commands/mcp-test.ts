import * as z from "zod";
import { UserError } from "../../protocol/errors.ts";
import { resultText } from "../../protocol/tool.ts";
import { configuredServers, serverSurroundings } from "../../runtime/mcp.ts";
import { signInByBrowser } from "../../runtime/mcp-sign-in.ts";
import type { Surroundings } from "../../runtime/surroundings.ts";
import { maskSecrets } from "../../safety/secrets.ts";
import { plainText } from "../../tools/bash/plain-text.ts";
import { McpTools } from "../../tools/mcp/as-tool.ts";
import type { ServerSurroundings, SignIn } from "../../tools/mcp/connection.ts";
import { toResult } from "../../tools/mcp/result.ts";
import { sampleAnswer } from "../../tools/mcp/sample-answer.ts";
import type { ConfiguredServer, HttpServerConfig, OAuthConfig } from "../../tools/mcp/schema.ts";
import { McpServer } from "../../tools/mcp/server.ts";

export type TestOptions = {
  json: boolean;
  mcpConfig?: readonly string[] | undefined;
  call?: readonly string[] | undefined;
  callAll?: boolean | undefined;
  readAll?: boolean | undefined;
  elicit?: "accept" | "decline" | "cancel" | undefined;
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  clientMetadataUrl?: string | undefined;
  protocol?: "auto" | "legacy" | undefined;
};
type CallReport = { name: string; isError?: boolean; text?: string; error?: string };
type Report = { calls: CallReport[]; read?: { resource?: string; prompt?: string }; isFine: boolean };

const CallSchema = z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });
const MAX_TEXT = 2_000;

/** Connects, lists, does what was asked in order, closes. Exit code 1 when the server is not there or a call failed. */
export async function testServer(
  surroundings: Surroundings,
  wanted: string,
  options: TestOptions,
  output: { write: (text: string) => void; say: (text: string) => void },
): Promise<number> {
  const { json } = options;
  const { write } = output;
  const calls = (options.call ?? []).map(readCall);
  const { server, others, isNamed } = await findServer(surroundings, wanted, options);
  await using browser = new Browser(isNamed ? surroundings.data.mcpAuth : undefined, surroundings.env, output.say);
  const signIn: ServerSurroundings["signIn"] = (url, config) => browser.signIn(url, withOAuth(config, options));
  const notes: string[] = [];
  const place: ServerSurroundings = {
    ...serverSurroundings(surroundings),
    signIn,
    ...(options.protocol ? { protocol: options.protocol } : {}),
    ...(options.elicit ? { elicit: answering(options.elicit) } : {}),
  };
  const started = performance.now();
  await using found = new McpServer(server, place, { onChange: () => undefined, onNotice: (text) => void notes.push(text) });
  await found.start();
  const ms = Math.round(performance.now() - started);
  if (found.state !== "connected") {
    const error = found.problem ?? notes.join("\n");
    write(json ? `${JSON.stringify({ name: server.name, ok: false, ms, error })}\n` : `${error}\n`);
    return 1;
  }
  const tools = new McpTools([found], maskSecrets, others)
    .of(found)
    .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const report = await doCalls(found, calls, options);
  if (json) {
    const { resources, templates, prompts } = found.lists;
    const counts = { resources: resources.length + templates.length, prompts: prompts.length };
    const { isFine, ...said } = report;
    write(`${JSON.stringify({ name: server.name, ok: isFine, ms, server: found.about, tools, ...counts, ...said, notes })}\n`);
  } else for (const line of lines(found, tools, report, ms, notes)) write(`${line}\n`);
  return report.isFine ? 0 : 1;
}

/** One way back for all sign-ins of this run, opened with the first. */
class Browser implements AsyncDisposable {
  readonly #place: Parameters<typeof signInByBrowser>[0];
  #opened: (SignIn & AsyncDisposable) | undefined;

  constructor(authFile: string | undefined, env: NodeJS.ProcessEnv, say: (text: string) => void) {
    this.#place = { authFile, env, say };
  }

  async signIn(url: URL, config: HttpServerConfig): Promise<SignIn> {
    this.#opened ??= await signInByBrowser(this.#place, url, config);
    return this.#opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.[Symbol.asyncDispose]();
  }
}

async function doCalls(
  server: McpServer,
  given: readonly z.output<typeof CallSchema>[],
  { callAll, readAll }: TestOptions,
): Promise<Report> {
  const calls = callAll ? server.lists.tools.map(({ name }) => ({ name, arguments: {} })) : given;
  const report: Report = { calls: [], isFine: true };
  const signal = new AbortController().signal;
  for (const { name, arguments: input } of calls) {
    try {
      const result = toResult(await server.call(name, withSchemas(input, server), { signal }), maskSecrets);
      report.calls.push({ name, isError: result.isError === true, text: resultText(result).slice(0, MAX_TEXT) });
    } catch (error) {
      report.calls.push({ name, error: wordsOf(error) });
      if (!callAll) report.isFine = false;
    }
  }
  if (!readAll) return report;
  const [resource] = server.lists.resources;
  const [prompt] = server.lists.prompts;
  try {
    if (resource) await server.read(resource.uri, { signal });
    if (prompt) await server.prompt(prompt.name, {}, { signal });
    report.read = { ...(resource ? { resource: resource.uri } : {}), ...(prompt ? { prompt: prompt.name } : {}) };
  } catch (error) {
    report.calls.push({ name: "(reading)", error: wordsOf(error) });
    report.isFine = false;
  }
  return report;
}

/** `"$schemaOf:tool"` stands for the input schema of that tool. */
function withSchemas(input: Record<string, unknown>, { lists }: McpServer): Record<string, unknown> {
  const schemaOf = (value: unknown) => {
    const name = typeof value === "string" ? /^\$schemaOf:(.+)$/.exec(value)?.[1] : undefined;
    return name === undefined ? value : lists.tools.find((tool) => tool.name === name)?.inputSchema;
  };
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, schemaOf(value)]));
}

function lines(
  { name: own, about }: McpServer,
  tools: readonly { name: string; description: string }[],
  report: Report,
  ms: number,
  notes: readonly string[],
): string[] {
  const server = plainText(`${about?.name} ${about?.version}`);
  return [
    `${own}: ${server}, protocol ${about?.protocol}, ${tools.length} tools, ${ms} ms`,
    ...tools.map((tool) => `  ${tool.name}  ${plainText(tool.description).trim().split("\n")[0]?.slice(0, 100) ?? ""}`),
    ...report.calls.map(({ name, isError, text = "", error }) => `${name}: ${error ?? `${isError ? "error: " : ""}${plainText(text)}`}`),
    ...notes,
  ];
}

function readCall(text: string): z.output<typeof CallSchema> {
  try {
    return CallSchema.parse(JSON.parse(text));
  } catch {
    throw new UserError(`--call takes {"name": "tool", "arguments": {…}} as JSON, not: ${text.slice(0, 100)}`);
  }
}

function answering(action: "accept" | "decline" | "cancel"): NonNullable<ServerSurroundings["elicit"]> {
  return async (_server, { requestedSchema }) => (action === "accept" ? { action, content: sampleAnswer(requestedSchema) } : { action });
}

function withOAuth(config: HttpServerConfig, { clientId, clientSecret, clientMetadataUrl }: TestOptions): HttpServerConfig {
  const given = Object.entries({ clientId, clientSecret, clientMetadataUrl }).filter(([, value]) => value !== undefined);
  const oauth: OAuthConfig = { ...config.oauth, ...Object.fromEntries(given) };
  return { ...config, oauth };
}

async function findServer(
  surroundings: Surroundings,
  wanted: string,
  { mcpConfig = [] }: TestOptions,
): Promise<{ server: ConfiguredServer; others: string[]; isNamed: boolean }> {
  const { servers, waiting, problems } = await configuredServers(surroundings, mcpConfig);
  const names = servers.map((server) => server.name);
  const server = servers.find(({ name }) => name === wanted);
  if (server) return { server, others: names.filter((name) => name !== wanted), isNamed: true };
  if (/^https?:\/\//.test(wanted) && URL.canParse(wanted)) {
    const { host } = new URL(wanted);
    return { server: { name: host, config: { url: wanted, headers: {} }, source: "command line" }, others: names, isNamed: false };
  }
  const unaccepted = waiting.find(({ name }) => name === wanted);
  if (unaccepted)
    throw new UserError(
      `The MCP server "${wanted}" of ${unaccepted.source} is not accepted yet: start roocode here and accept it, or give the file by --mcp-config.`,
    );
  const others = names.length > 0 ? `Servers: ${names.join(", ")}.` : "None is configured.";
  throw new UserError([`There is no MCP server "${wanted}". ${others}`, ...problems].join(" "));
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
