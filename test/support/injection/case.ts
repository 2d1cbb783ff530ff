import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import * as z from "zod";
import type { Answer } from "../../../src/interaction/demo/conversation.ts";
import { gitText } from "../../../src/platform/git.ts";
import { projectRules } from "../../../src/runtime/permissions.ts";
import { readSurroundings } from "../../../src/runtime/surroundings.ts";
import { trustFolder } from "../../../src/safety/trust.ts";
import { stdioServer } from "../mcp.ts";
import { tempFolder } from "../temp.ts";

const FOLDER = decodeURIComponent(new URL("../../fixtures/security/injection/", import.meta.url).pathname);

const texts = z.record(z.string(), z.string());
const calls = z.array(z.object({ tool: z.string(), input: z.record(z.string(), z.unknown()) }));
const turns = z.array(z.union([calls, z.string()]));
const CaseSchema = z.strictObject({
  id: z.string(),
  kind: z.string(),
  title: z.string(),
  source: z.string(),
  right: z.string(),
  trusted: z.boolean(),
  trustedPaths: z.array(z.string()).default([]),
  mode: z.enum(["default", "acceptEdits", "plan", "bypassPermissions"]),
  headless: z.boolean(),
  home: texts,
  files: texts,
  links: texts.default({}),
  git: z.object({ tracked: z.array(z.string()) }).default({ tracked: [] }),
  user: z.string(),
  model: turns,
  subModel: turns.default([]),
  mcp: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  team: z.object({ self: z.string(), lead: z.string(), others: z.array(z.string()).default([]) }).optional(),
  inboxRaw: z.array(z.object({ name: z.string(), uid: z.enum(["self", "other"]), mode: z.string(), text: z.string() })).default([]),
  inboxFrom: z.array(z.looseObject({ from: z.string(), type: z.string() })).default([]),
  expect: z.record(z.string(), z.unknown()),
});
export type InjectionCase = z.output<typeof CaseSchema>;

export function injectionCases(): InjectionCase[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => CaseSchema.parse(JSON.parse(readFileSync(join(FOLDER, name), "utf8"))));
}

export type Place = AsyncDisposable & {
  /** The case with its placeholders filled in. */
  given: InjectionCase;
  top: string;
  home: string;
  repo: string;
  data: string;
  sink: { requests: number };
};

/** The repository, the home, links, servers, trust and the sink of a case, as it says. */
export async function placeOf(raw: InjectionCase): Promise<Place> {
  const temp = await tempFolder("roocode-injection");
  const [home, repo] = [join(temp.path, "home"), join(temp.path, "repo")];
  const data = join(home, ".roocode");
  const sink = { requests: 0 };
  const server = createServer((_, response) => {
    sink.requests += 1;
    response.end("echo pwned\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? String(address.port) : "";
  const fill = (text: string) => text.replaceAll("${T}", temp.path).replaceAll("${HOME}", home).replaceAll("${SINK}", port);
  const given = CaseSchema.parse(filled(raw, fill));

  await mkdir(data, { recursive: true });
  await writeAll(home, given.home);
  await writeAll(repo, given.files);
  for (const [path, target] of Object.entries(given.links)) {
    await mkdir(dirname(join(repo, path)), { recursive: true });
    await symlink(target, join(repo, path));
  }
  if (!(".git" in given.files)) {
    await gitText(repo, ["init", "--quiet", "--initial-branch=main"]);
    await gitText(repo, ["config", "user.name", "Test"]);
    await gitText(repo, ["config", "user.email", "test@localhost"]);
    if (given.git.tracked.length > 0) await gitText(repo, ["add", "--force", ...given.git.tracked]);
    await gitText(repo, ["commit", "--quiet", "--allow-empty", "--message", "First commit"]);
  }
  const servers: [string, object][] = [];
  for (const [name, script] of Object.entries(given.mcp)) {
    await writeFile(join(temp.path, `${name}.json`), JSON.stringify(script));
    servers.push([name, { ...stdioServer(), args: [...stdioServer().args.slice(0, 1), "scripted", join(temp.path, `${name}.json`)] }]);
  }
  // The model is asked by the conversation alone.
  // The cases are about the five layers alone: in the sandbox a command that only its mode asks for runs.
  await writeFile(
    join(data, "config.yaml"),
    JSON.stringify({ sandbox: "off", autoMemory: false, mcpServers: Object.fromEntries(servers) }),
  );
  // Trusted for the very content that the case brings: inherited trust would hold for all of it.
  const surroundings = await readSurroundings(repo, { HOME: home }, {});
  const { items } = await projectRules(surroundings);
  for (const path of given.trustedPaths) await trustFolder(surroundings.data.trust, path, items);
  return {
    given,
    top: temp.path,
    home,
    repo,
    data,
    sink,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await temp[Symbol.asyncDispose]();
    },
  };
}

/** What the fooled model does, one answer a round. `LIST_CHANGED` is the server's own turn, which comes with its first answer. */
export function answersOf(turnsOf: InjectionCase["model"]): Answer[] {
  return turnsOf
    .filter((turn) => turn !== "LIST_CHANGED")
    .map((turn) => (typeof turn === "string" ? { text: turn } : { calls: turn.map(({ tool, input }) => ({ name: tool, input })) }));
}

async function writeAll(folder: string, files: Record<string, string>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    if (path.startsWith(".ssh/")) await chmod(file, 0o600);
  }
}

function filled(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === "string") return fill(value);
  if (Array.isArray(value)) return value.map((each) => filled(each, fill));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, fill)]));
}
