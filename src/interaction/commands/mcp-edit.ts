import { readOddFile, writeAtomic } from "../../platform/files.ts";
import { keepOutOfGit } from "../../platform/git-exclude.ts";
import { withLock } from "../../platform/lock.ts";
import { projectPaths } from "../../platform/paths.ts";
import { changeYaml } from "../../platform/yaml-file.ts";
import { UserError } from "../../protocol/errors.ts";
import { isRecord } from "../../protocol/record.ts";
import type { Surroundings } from "../../runtime/surroundings.ts";
import { maskSecrets } from "../../safety/secrets.ts";
import { readServers } from "../../tools/mcp/schema.ts";
import { SCOPES, type Scope } from "./mcp-scopes.ts";

export type AddOptions = {
  scope: Scope;
  /** A URL, or a program with its arguments. */
  target: readonly string[];
  env?: readonly string[] | undefined;
  header?: readonly string[] | undefined;
  transport?: "stdio" | "http" | "sse" | undefined;
  required?: boolean | undefined;
  clientId?: string | undefined;
};
/** What needs no quotes in a shell and reads well in mcp__name__tool. */
const NAME = /^[A-Za-z0-9._-]{1,64}$/;

type Output = { write: (text: string) => void; say: (text: string) => void };

/** Writes a server down as it was given: `${NAME}` stays what it is, and is filled in when the server starts. */
export async function addServer(surroundings: Surroundings, name: string, options: AddOptions, { write, say }: Output): Promise<number> {
  if (!NAME.test(name))
    throw new UserError(`A server is called by letters, digits, ".", "_" and "-", at most 64 of them, not "${name.slice(0, 80)}".`);
  const server = serverOf(name, options);
  const { problems } = readServers({ [name]: server }, "command line");
  if (problems[0] !== undefined) throw new UserError(problems[0]);
  const file = fileOf(surroundings, options.scope);
  await changeServers(file, options.scope, (servers) => {
    if (Object.hasOwn(servers, name))
      throw new UserError(
        `${file} has an MCP server "${name}" already. To replace it: roocode mcp remove ${name} --scope ${options.scope}`,
      );
    return { ...servers, [name]: server };
  });
  if (options.scope === "local") await keepOutOfGit(file);
  const next = options.scope === "user" ? ` Try it with: roocode mcp test ${name}` : "";
  write(`Wrote the MCP server "${name}" to ${file}.${next}\n`);
  const texts = [...(options.env ?? []), ...(options.header ?? []), ...options.target];
  if (texts.some((text) => maskSecrets(text) !== text))
    say(`It holds what looks like a key. Put it into an environment variable and write it as '\${NAME}' instead.`);
  if (options.scope !== "user")
    say("A server of a project starts once you have accepted it; roocode asks when it starts here the next time.");
  return 0;
}

export async function removeServer(surroundings: Surroundings, name: string, scope: Scope | undefined, { write }: Output): Promise<number> {
  for (const one of scope === undefined ? SCOPES : [scope]) {
    const file = fileOf(surroundings, one);
    let isGone = false;
    await changeServers(file, one, (servers) => {
      if (!Object.hasOwn(servers, name)) return undefined;
      isGone = true;
      return Object.fromEntries(Object.entries(servers).filter(([key]) => key !== name));
    });
    if (!isGone) continue;
    write(`Removed the MCP server "${name}" from ${file}.\n`);
    return 0;
  }
  throw new UserError(
    `There is no MCP server "${name}" in ${(scope ? [scope] : SCOPES).map((one) => fileOf(surroundings, one)).join(" or ")}.`,
  );
}

function serverOf(name: string, { target, env = [], header = [], transport, required, clientId }: AddOptions): Record<string, unknown> {
  const [first, ...args] = target;
  if (first === undefined)
    throw new UserError(`Say what "${name}" is: a URL, or a program behind --: roocode mcp add ${name} -- program argument`);
  const more = required ? { required } : {};
  if (transport === "stdio" || (transport === undefined && !/^https?:\/\//.test(first) && !first.startsWith("${"))) {
    if (header.length > 0) throw new UserError("--header goes with a URL; a program gets --env NAME=value.");
    return {
      command: first,
      ...(args.length > 0 ? { args } : {}),
      ...(env.length > 0 ? { env: pairs(env, "=", "--env NAME=value") } : {}),
      ...more,
    };
  }
  if (args.length > 0 || env.length > 0)
    throw new UserError("A server with a URL takes no arguments and no --env; it gets --header 'Name: value'.");
  return {
    type: transport ?? "http",
    url: first,
    ...(header.length > 0 ? { headers: pairs(header, ":", "--header 'Name: value'") } : {}),
    ...(clientId === undefined ? {} : { oauth: { clientId } }),
    ...more,
  };
}

function pairs(texts: readonly string[], divider: string, form: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(divider);
      if (at < 1) throw new UserError(`"${text.slice(0, 40)}" is not ${form}.`);
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    }),
  );
}

function fileOf({ data, projectRoot }: Surroundings, scope: Scope): string {
  const { mcp, localConfig } = projectPaths(projectRoot);
  return { user: data.config, local: localConfig, project: mcp }[scope];
}

/** `change` gives undefined where nothing is to be written. */
async function changeServers(
  file: string,
  scope: Scope,
  change: (servers: Record<string, unknown>) => Record<string, unknown> | undefined,
): Promise<void> {
  if (scope !== "project") {
    await changeYaml(file, (document) => {
      const key = document.has("mcp_servers") ? "mcp_servers" : "mcpServers";
      const content: unknown = document.toJS();
      const before = isRecord(content) && isRecord(content[key]) ? content[key] : {};
      const after = change(before);
      if (!after) return false;
      // One entry at a time: the others keep their comments.
      for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) document.deleteIn([key, name]);
      for (const [name, server] of Object.entries(after))
        if (before[name] !== server) document.setIn([key, name], document.createNode(server));
      return true;
    });
    return;
  }
  await withLock(file, async () => {
    const { text, problem } = await readOddFile(file);
    if (problem !== undefined) throw new UserError(`${file} ${problem}; mend it, then do this again.`);
    const content = text === undefined ? {} : parse(text, file);
    const before = isRecord(content.mcpServers) ? content.mcpServers : {};
    const after = change(before);
    if (after) await writeAtomic(file, `${JSON.stringify({ ...content, mcpServers: after }, undefined, 2)}\n`, { mode: 0o644 });
  });
}

function parse(text: string, file: string): Record<string, unknown> {
  try {
    const content: unknown = JSON.parse(text);
    if (isRecord(content)) return content;
  } catch {
    // Said below, like content of another kind.
  }
  throw new UserError(`${file} is no JSON object; mend it, then do this again.`);
}
