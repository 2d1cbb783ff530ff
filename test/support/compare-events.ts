import { isDeepStrictEqual } from "node:util";
import type { VectorEvent } from "./streams.ts";

type ToolEvents = { type: "tool"; start: VectorEvent; json: string; end: VectorEvent | undefined };
type Part = VectorEvent | ToolEvents;

/** What differs between a vector's events and a stream's, by the rules of vectors/sse/README.md; an empty list is a pass. */
export function differences(expected: readonly VectorEvent[], actual: readonly VectorEvent[]): string[] {
  const complaints: string[] = [];
  const left = inOrder(expected, []);
  const right = inOrder(actual, complaints);
  const optional = new Set(expected.filter((event) => event.$optional).map((event) => event.index));
  for (let place = 0; place < Math.max(left.length, right.length); place++) {
    const [want, got] = [left[place], right[place]];
    if (!want || !got || want.type !== got.type) return [...complaints, `place ${place}: wanted ${want?.type}, got ${got?.type}`];
    if (isTool(want) && isTool(got)) complaints.push(...toolDifferences(want, got, optional.has(want.start.index)));
    else if (!isTool(want) && !isTool(got)) complaints.push(...plainDifferences(want, got));
  }
  return complaints;
}

function isTool(part: Part): part is ToolEvents {
  return part.type === "tool";
}

/** Neighbouring texts joined, and each tool's events behind its start, so that interleaved ones compare. */
function inOrder(events: readonly VectorEvent[], complaints: string[]): Part[] {
  const parts: Part[] = [];
  const tools = new Map<unknown, ToolEvents>();
  for (const event of events) {
    const last = parts.at(-1);
    if (last?.type === "end") complaints.push(`${event.type} after end`);
    if ((event.type === "text" || event.type === "thinking") && last && !isTool(last) && last.type === event.type) {
      last.text = `${last.text}${event.text}`;
    } else if (event.type === "tool_start") {
      const tool: ToolEvents = { type: "tool", start: event, json: "", end: undefined };
      if (!event.id || !event.name || tools.has(event.index)) complaints.push(`bad tool_start ${JSON.stringify(event)}`);
      tools.set(event.index, tool);
      parts.push(tool);
    } else if (event.type === "tool_delta" || event.type === "tool_end") {
      const tool = tools.get(event.index);
      if (!tool || tool.end) complaints.push(`${event.type} outside of its tool`);
      else if (event.type === "tool_delta") tool.json += event.json;
      else tool.end = event;
    } else parts.push({ ...event });
  }
  const ids = parts.flatMap((part) => (isTool(part) ? [part.start.id] : []));
  if (new Set(ids.filter((id) => id !== "*")).size !== ids.filter((id) => id !== "*").length) complaints.push("ids are not unique");
  if (parts.at(-1)?.type !== "end") complaints.push("no end");
  return parts;
}

function toolDifferences(want: ToolEvents, got: ToolEvents, mayLackEnd: boolean): string[] {
  const found: string[] = [];
  if (want.start.id !== "*" && want.start.id !== got.start.id) found.push(`id ${got.start.id}`);
  if (want.start.name !== got.start.name) found.push(`name ${got.start.name}`);
  if (got.end && got.end.id !== got.start.id) found.push("tool_end has another id");
  if (got.end ? !isDeepStrictEqual(want.end?.input, got.end.input) : !mayLackEnd) found.push(`input ${JSON.stringify(got.end?.input)}`);
  if (want.json !== got.json && !isDeepStrictEqual(parsed(want.json || "{}"), parsed(got.json || "{}")))
    found.push(`json ${got.json.slice(0, 80)}`);
  return found;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

function plainDifferences(want: VectorEvent, got: VectorEvent): string[] {
  const { usage, kind, $optional, ...rest } = want;
  const found = Object.entries(rest).flatMap(([key, value]) =>
    got[key] === value ? [] : [`${want.type}.${key} ${JSON.stringify(got[key])}`],
  );
  if (typeof kind === "string" && !kind.split("|").includes(String(got.kind))) found.push(`kind ${got.kind}`);
  const counts = new Map(Object.entries({ ...Object(got.usage) }));
  for (const [key, value] of Object.entries({ ...Object(usage) }))
    if ((counts.get(key) ?? 0) !== value) found.push(`usage.${key} ${counts.get(key)}`);
  return found;
}
