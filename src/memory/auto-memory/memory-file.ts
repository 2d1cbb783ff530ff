import * as z from "zod";
import { splitFrontMatter } from "../../platform/front-matter-head.ts";
import { contentOf, parseDocument } from "../../platform/yaml.ts";

export const MEMORY_TYPES = ["user", "feedback", "project", "reference"] as const;
export type MemoryType = (typeof MEMORY_TYPES)[number];
export const MAX_NAME = 60;
export const MAX_DESCRIPTION = 200;
export const MAX_BODY = 2_000;

const FrontMatter = z.object({
  name: z.string().trim().min(1).max(MAX_NAME),
  description: z.string().trim().min(1).max(MAX_DESCRIPTION),
  type: z.enum(MEMORY_TYPES),
  created: z.string().min(1).max(40),
});
export type NewMemory = { type: MemoryType; name: string; description: string; body: string };
export type Memory = NewMemory & { created: string; path: string };

export function fileName({ type, name }: Pick<NewMemory, "type" | "name">): string {
  return `${type}-${slug(name)}.md`;
}

/** Letters and digits of any script; what has none of them goes by a number made of it. */
export function slug(name: string): string {
  const words = name
    .normalize("NFC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
  return (
    [...words].slice(0, 40).join("").replace(/-$/, "") || `memory-${[...name].reduce((sum, one) => sum + (one.codePointAt(0) ?? 0), 0)}`
  );
}

/** JSON's strings are YAML's. */
export function memoryText({ name, description, type, created, body }: Omit<Memory, "path">): string {
  const fields = { name, description, type, created };
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `---\n${lines.join("\n")}\n---\n\n${body.trim()}\n`;
}

/** Undefined for a file that is no memory. */
export function readMemory(text: string, path: string): Memory | undefined {
  const split = splitFrontMatter(text);
  if (split.type !== "head") return undefined;
  const document = parseDocument(split.yaml);
  if (document.errors.length > 0) return undefined;
  const said = contentOf(document, 10);
  const found = FrontMatter.safeParse("value" in said ? said.value : undefined);
  return found.success ? { ...found.data, body: split.body, path } : undefined;
}
