import { MEMORY_TYPES, type NewMemory } from "../memory/auto-memory/memory-file.ts";
import { fileOf, type Listed } from "../memory/auto-memory/memory-store.ts";

const NAME_WORDS = 6;

/** What the person typed as a memory: `user: text`, or a text that counts for the project. */
export function memoryOf(text: string): NewMemory {
  const [, given = "", rest = ""] = /^(\w+):\s*([\s\S]*)$/.exec(text) ?? [];
  const type = MEMORY_TYPES.find((one) => one === given.toLowerCase());
  const body = type ? rest : text;
  const line = body.replace(/\s+/g, " ").trim();
  const name = line.split(" ").slice(0, NAME_WORDS).join(" ");
  return { type: type ?? "project", name: shortened(name, 50), description: shortened(line, 190), body };
}

export function memoryLines({ memories, notes }: Listed): string[] {
  if (memories.length === 0 && notes.length === 0) return ["Nothing is remembered yet. Keep a note with: /remember TEXT"];
  return [
    ...memories.map((memory) => `${memory.type.padEnd(10)}${memory.name} (${fileOf(memory)})\n          ${memory.description}`),
    ...notes,
  ];
}

function shortened(text: string, most: number): string {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}
