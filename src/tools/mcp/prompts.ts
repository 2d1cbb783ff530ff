import { UserError } from "../../protocol/errors.ts";
import type { ImageBlock, TextBlock } from "../../protocol/message.ts";
import { escapeSystemTags } from "../../protocol/system-tags.ts";
import { plainText } from "../bash/plain-text.ts";
import type { McpTools } from "./as-tool.ts";
import type { RemotePrompt } from "./lists.ts";
import { contentBlock } from "./result.ts";
import type { McpServer } from "./server.ts";

/** A prompt of a server as a command; `name` is without the slash. */
export type McpPrompt = { name: string; describe: string; argument: string };
type Found = { server: McpServer; prompt: RemotePrompt; name: string };

export function listMcpPrompts(servers: readonly McpServer[], tools: McpTools): McpPrompt[] {
  return allPrompts(servers, tools).map(({ name, prompt }) => ({
    name,
    describe: plainText(prompt.description ?? "")
      .replaceAll(/\s+/g, " ")
      .slice(0, 200),
    argument: (prompt.arguments ?? []).map((one) => (one.required ? one.name : `[${one.name}]`)).join(" "),
  }));
}

/** What the prompt stands for. `argument` is what was typed behind its name: words in the order of its arguments, or name=word. */
export async function expandMcpPrompt(
  name: string,
  argument: string,
  servers: readonly McpServer[],
  tools: McpTools,
  maskSecrets: (text: string) => string,
  signal: AbortSignal,
): Promise<(TextBlock | ImageBlock)[] | undefined> {
  const found = allPrompts(servers, tools).find((one) => one.name === name);
  if (!found) return undefined;
  const { server, prompt } = found;
  const input = argumentsOf(prompt, argument);
  const missing = (prompt.arguments ?? []).filter((one) => one.required && input[one.name] === undefined).map((one) => one.name);
  if (missing.length > 0) throw new UserError(`it needs ${missing.join(", ")}.`);
  const { messages } = await server.prompt(prompt.name, input, { signal });
  return messages.map(({ role, content }) => {
    const block = contentBlock(content, maskSecrets);
    if (block.type === "image") return block;
    const text = escapeSystemTags(block.text);
    return { type: "text", text: role === "assistant" ? `You would have answered:\n${text}` : text };
  });
}

function allPrompts(servers: readonly McpServer[], tools: McpTools): Found[] {
  return servers.flatMap((server) =>
    server.lists.prompts.map((prompt) => ({
      server,
      prompt,
      name: `${tools.prefixOf(server)}${prompt.name.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`,
    })),
  );
}

/** The last argument takes all words that are left. */
function argumentsOf({ arguments: wanted }: RemotePrompt, typed: string): Record<string, string> {
  const names = (wanted ?? []).map(({ name }) => name);
  const words = [...typed.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
  const named = words.filter((word) => names.includes(word.split("=", 1)[0] ?? "") && word.includes("="));
  const input = Object.fromEntries(named.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]));
  const open = names.filter((name) => input[name] === undefined);
  const plain = words.filter((word) => !named.includes(word));
  for (const [index, name] of open.entries()) {
    const own = index === open.length - 1 ? plain.slice(index) : plain.slice(index, index + 1);
    if (own.length > 0) input[name] = own.join(" ");
  }
  return input;
}
