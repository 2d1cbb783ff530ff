import { escapeSystemTags } from "../protocol/system-tags.ts";
import type { Tool } from "../protocol/tool.ts";
import { plainText } from "./bash/plain-text.ts";

const LINE_CHARACTERS = 100;
/** A word that is a part of the name says more than one that is only somewhere in it, or in the description. */
const SCORES = { part: 12, inName: 6, word: 3, inText: 1 };

/** The tools that fit the words best, at most `max`; of two that fit alike the earlier one first. */
export function bestTools(tools: readonly Tool[], query: string, max: number): Tool[] {
  const exact = tools.filter(({ name }) => name.toLowerCase() === query.trim().toLowerCase());
  if (exact.length > 0) return exact;
  const words = query
    .toLowerCase()
    .split(/[\s,;]+/)
    .filter((word) => /[^\s+]/.test(word));
  const required = words.filter((word) => word.startsWith("+")).map((word) => word.slice(1));
  const terms = words.map((word) => word.replace(/^\+/, ""));
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, terms, required) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, max)
    .map(({ tool }) => tool);
}

/** A tool's name with the beginning of what it says of itself; another program's words, so on one line, without control characters, and not in the system's name. */
export function oneLine({ name, description }: Pick<Tool, "name" | "description">): string {
  const words = escapeSystemTags(plainText(description)).replaceAll(/\s+/g, " ").trim();
  const sentence = /^.*?[.!?。](?=\s|$)/.exec(words)?.[0] ?? words;
  const short = sentence.length > LINE_CHARACTERS ? `${sentence.slice(0, LINE_CHARACTERS - 1).trimEnd()}…` : sentence;
  return short === "" ? `- ${name}` : `- ${name}: ${short}`;
}

function scoreOf(tool: Tool, terms: readonly string[], required: readonly string[]): number {
  const name = tool.name.toLowerCase();
  const parts = new Set(partsOf(tool.name));
  const text = tool.description.toLowerCase();
  const textWords = new Set(text.split(/[^\p{L}\p{N}]+/u));
  if (required.some((word) => !name.includes(word) && !text.includes(word))) return 0;
  return terms.reduce((sum, term) => {
    if (parts.has(term)) return sum + SCORES.part;
    if (name.includes(term)) return sum + SCORES.inName;
    if (textWords.has(term)) return sum + SCORES.word;
    return text.includes(term) ? sum + SCORES.inText : sum;
  }, 0);
}

/** `mcp__my-server__createIssue`: my, server, create, issue. */
function partsOf(name: string): string[] {
  const parts = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return parts.filter((part) => part !== "" && part !== "mcp");
}
