import { fileOf } from "../../memory/auto-memory/memory-store.ts";
import { UserError } from "../../protocol/errors.ts";
import { openMemories } from "../../runtime/agent-memory.ts";
import { plainText } from "../../tools/bash/plain-text.ts";
import { outliveOutput } from "../lost-output.ts";
import { memoryLines } from "../memory-words.ts";
import { surroundingsHere } from "../surroundings-here.ts";

type Json = { json: boolean };

export async function list({ json }: Json): Promise<number> {
  const found = await (await storeHere()).list();
  if (json) print(JSON.stringify({ memories: found.memories.map((memory) => ({ ...memory, file: fileOf(memory) })), notes: found.notes }));
  else for (const line of memoryLines(found)) print(plainText(line));
  return 0;
}

export async function show({ name, json }: Json & { name: string }): Promise<number> {
  const { memories } = await (await storeHere()).list();
  const wanted = name.toLowerCase();
  const found = memories.filter((memory) =>
    [memory.name, fileOf(memory), fileOf(memory).replace(/\.md$/, "")].some((one) => one.toLowerCase() === wanted),
  );
  const [memory] = found;
  if (!memory) throw unknown(name);
  if (json) print(JSON.stringify({ ...memory, file: fileOf(memory) }));
  else
    print(
      plainText(
        `${memory.name} (${memory.type}, ${memory.created.slice(0, 10)})\n${memory.description}\n\n${memory.body}\n\n${memory.path}`,
      ),
    );
  return 0;
}

export async function forget({ name, json }: Json & { name: string }): Promise<number> {
  const gone = await (await storeHere()).forget(name);
  if (!gone) throw unknown(name);
  print(json ? JSON.stringify({ forgotten: fileOf(gone), path: gone.path }) : `Forgot "${plainText(gone.name)}".`);
  return 0;
}

async function storeHere() {
  return openMemories(await surroundingsHere());
}

function unknown(name: string): UserError {
  return new UserError(`There is no memory "${name}". See them with: roocode memory list`);
}

function print(line: string): void {
  outliveOutput();
  process.stdout.write(`${line}\n`);
}
