import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = new URL("../fixtures/sse/", import.meta.url).pathname;

export type SseVector = { id: string; protocol: "anthropic" | "openai"; quirk: string; events: VectorEvent[]; bytes: Uint8Array };
export type VectorEvent = { type: string; $optional?: boolean; [field: string]: unknown };

export function sseVectors(): SseVector[] {
  const ids = readdirSync(folder).flatMap((name) => (name.endsWith(".sse") ? [name.slice(0, -4)] : []));
  return ids.map((id) => {
    // The vectors are fixtures of our own, and their shape is written beside them.
    const spec = JSON.parse(readFileSync(join(folder, `${id}.json`), "utf8")) as Omit<SseVector, "bytes">;
    return { ...spec, bytes: readFileSync(join(folder, `${id}.sse`)) };
  });
}

export function vectorBytes(id: string): Uint8Array {
  return readFileSync(join(folder, `${id}.sse`));
}

export async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}
