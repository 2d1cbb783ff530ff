import * as z from "zod";
import { isRecord } from "../../protocol/record.ts";

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const COMMON = {
  disabled: z.boolean().optional(),
  /** The first request waits for it, at most `REQUIRED_MS`. */
  required: z.boolean().optional(),
  /** False: its tools are sent without being searched for. */
  deferred: z.boolean().optional(),
  /** Milliseconds that a call may take without a sign of life. */
  timeout: z.int().min(1).optional(),
  /** Milliseconds that its start may take. */
  connectTimeout: z.int().min(1).optional(),
};
export const StdioSchema = z.object({
  ...COMMON,
  type: z.literal("stdio").optional(),
  command: z.string().min(1),
  args: z.array(text).default([]),
  env: z.record(z.string(), text).default({}),
  cwd: z.string().optional(),
});
const OAuthSchema = z.object({
  clientId: text.optional(),
  clientSecret: text.optional(),
  /** Address of a document that describes this client. */
  clientMetadataUrl: z.string().optional(),
});
export const HttpSchema = z.object({
  ...COMMON,
  type: z.enum(["http", "streamable-http", "sse"]).optional(),
  url: z.string().min(1),
  headers: z.record(z.string(), text).default({}),
  oauth: OAuthSchema.optional(),
});

export type OAuthConfig = z.output<typeof OAuthSchema>;
export type HttpServerConfig = z.output<typeof HttpSchema>;
export type StdioServerConfig = z.output<typeof StdioSchema>;
/** Keys that other hosts put beside these are left out in silence: the files are shared with them. */
export type McpServerConfig = StdioServerConfig | HttpServerConfig;
/** `source` is where it is written down, for texts. */
export type ConfiguredServer = { name: string; config: McpServerConfig; source: string };
export type ConfiguredServers = { servers: ConfiguredServer[]; problems: string[] };

/** The map under `mcpServers`. A server that is written wrongly costs only itself: it is a problem that names the field. */
export function readServers(raw: unknown, source: string): ConfiguredServers {
  if (raw === undefined || raw === null) return { servers: [], problems: [] };
  if (!isRecord(raw)) return { servers: [], problems: [`${source}: mcpServers: a map from a server's name to its settings is needed.`] };
  const servers: ConfiguredServer[] = [];
  const problems: string[] = [];
  for (const [name, value] of Object.entries(raw)) {
    // Chosen by what is there: the message of a union would name neither field.
    const parsed = (isRecord(value) && "url" in value ? HttpSchema : StdioSchema).safeParse(value);
    if (parsed.success) servers.push({ name, config: parsed.data, source });
    else {
      const { path, message } = parsed.error.issues[0] ?? { path: [], message: "" };
      problems.push(`${source}: ${["mcpServers", name, ...path].join(".")}: ${message}.`);
    }
  }
  return { servers, problems };
}
