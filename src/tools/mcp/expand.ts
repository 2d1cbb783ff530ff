import type { McpServerConfig } from "./schema.ts";

/** Puts variables of the environment where `${NAME}` or `${NAME:-otherwise}` stands; `missing` are those without a value. */
export function expandServer(config: McpServerConfig, env: NodeJS.ProcessEnv): { config: McpServerConfig; missing: string[] } {
  const missing = new Set<string>();
  const expand = (text: string) =>
    text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise: string | undefined) => {
      const value = env[name] ?? otherwise;
      if (value === undefined) missing.add(name);
      return value ?? "";
    });
  const expandAll = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, expand(value)]));
  const expanded =
    "url" in config
      ? {
          ...config,
          url: expand(config.url),
          headers: expandAll(config.headers),
          ...(config.oauth ? { oauth: expandAll(definedOf(config.oauth)) } : {}),
        }
      : {
          ...config,
          command: expand(config.command),
          args: config.args.map(expand),
          env: expandAll(config.env),
          ...(config.cwd ? { cwd: expand(config.cwd) } : {}),
        };
  return { config: expanded, missing: [...missing] };
}

function definedOf(texts: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])));
}
