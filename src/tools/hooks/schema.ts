import * as z from "zod";
import { contentOf, isNode, LineCounter, parseDocument } from "../../platform/yaml.ts";
import type { HookEventName } from "../../protocol/hook.ts";
import { isRecord } from "../../protocol/record.ts";
import { type Condition, readCondition } from "./condition.ts";
import { EVENT_NAMES, eventNamed } from "./events.ts";

export type HookLevel = "user" | "project" | "local";
type HookAction =
  | { type: "command"; command: string }
  | { type: "prompt"; prompt: string }
  | { type: "http"; url: string; headers: Record<string, string> }
  | { type: "agent"; prompt: string; description: string };
export type Hook = {
  event: HookEventName;
  condition?: Condition;
  action: HookAction;
  timeoutMs: number;
  /** Nobody waits for it, and it decides nothing. */
  isAsync: boolean;
  level: HookLevel;
  /** File and line. */
  place: string;
  /** As it stands in the file: trust is given to exactly that. */
  raw: unknown;
};
export type ReadHooks = { hooks: Hook[]; problems: string[] };

const DEFAULT_SECONDS = 60;
const AGENT_SECONDS = 600;
/** Who leaves waits for these. */
const END_SECONDS = 5;
const MAX_SECONDS = 3_600;

const seconds = z.number().positive().max(MAX_SECONDS);
const common = { timeout: seconds.optional(), async: z.boolean().optional() };
const Action = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("command"), command: z.string().trim().min(1), ...common }),
  z.strictObject({ type: z.literal("prompt"), prompt: z.string().trim().min(1), ...common }),
  z.strictObject({
    type: z.literal("http"),
    url: z.url({ protocol: /^https?$/ }),
    headers: z.record(z.string(), z.string()).default({}),
    ...common,
  }),
  z.strictObject({ type: z.literal("agent"), prompt: z.string().trim().min(1), description: z.string().optional(), ...common }),
]);
export const HookEntrySchema = z.strictObject({ event: z.string(), if: z.string().optional(), action: Action, ...common });

/** The hooks of one settings file. An entry that is written wrongly costs itself alone, and is named with file, line and key. */
export function readHooks(text: string, file: string, level: HookLevel): ReadHooks {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  // What does not parse at all is said where settings are read.
  if (document.errors.length > 0) return { hooks: [], problems: [] };
  const said = contentOf(document);
  if ("problem" in said || !isRecord(said.value) || said.value.hooks === undefined || said.value.hooks === null)
    return { hooks: [], problems: [] };
  const placeOf = (...path: readonly PropertyKey[]): string => {
    for (let known = [...path]; ; known.pop()) {
      const node: unknown = document.getIn(["hooks", ...known], true);
      const start = isNode(node) ? node.range?.[0] : undefined;
      if (start !== undefined) return `${file}:${lines.linePos(start).line}`;
      if (known.length === 0) return file;
    }
  };
  const entries = said.value.hooks;
  if (!Array.isArray(entries))
    return {
      hooks: [],
      problems: [
        `${placeOf()}: "hooks" is not a list. Each hook is {event, if, action}; what Claude Code has is taken over by: roocode import claude`,
      ],
    };
  const hooks: Hook[] = [];
  const problems: string[] = [];
  for (const [index, raw] of entries.entries()) {
    const read = readEntry(raw);
    if ("hook" in read) {
      const place = placeOf(index);
      hooks.push({ ...read.hook, level, place, raw });
      for (const doubt of read.hook.condition?.doubts ?? []) problems.push(`${placeOf(index, "if")}: hooks[${index}].if: ${doubt}.`);
    } else
      for (const { path, message } of read.problems)
        problems.push(
          `${placeOf(index, ...path)}: ${["hooks[", index, "]", ...path.map((key) => `.${String(key)}`)].join("")}: ${message}. This hook is off.`,
        );
  }
  return { hooks, problems };
}

type Read = { hook: Omit<Hook, "level" | "place" | "raw"> } | { problems: { path: readonly PropertyKey[]; message: string }[] };

function readEntry(raw: unknown): Read {
  const parsed = HookEntrySchema.safeParse(raw);
  const eventProblem =
    isRecord(raw) && typeof raw.event === "string" && eventNamed(raw.event) === undefined ? unknownEvent(raw.event) : undefined;
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => ({ path, message: words(message) }));
    return { problems: eventProblem === undefined ? problems : [{ path: ["event"], message: eventProblem }, ...problems] };
  }
  const { action: given, if: condition, ...entry } = parsed.data;
  const event = eventNamed(entry.event);
  if (event === undefined) return { problems: [{ path: ["event"], message: unknownEvent(entry.event) }] };
  const { timeout = entry.timeout, async: isAsync = entry.async ?? false, ...action } = given;
  if (isAsync && action.type === "prompt") return { problems: [{ path: ["action"], message: "words for the model can't be async" }] };
  try {
    return {
      hook: {
        event,
        ...(condition === undefined ? {} : { condition: readCondition(condition) }),
        action: action.type === "agent" ? { ...action, description: action.description ?? `hook of ${event}` } : action,
        timeoutMs: (timeout ?? defaultSeconds(event, action.type)) * 1_000,
        isAsync,
      },
    };
  } catch (error) {
    return { problems: [{ path: ["if"], message: error instanceof Error ? error.message : String(error) }] };
  }
}

function defaultSeconds(event: HookEventName, type: HookAction["type"]): number {
  if (type === "agent") return AGENT_SECONDS;
  return event === "session_end" ? END_SECONDS : DEFAULT_SECONDS;
}

function unknownEvent(name: string): string {
  return `there is no event "${name}". Events: ${EVENT_NAMES.join(", ")}`;
}

function words(message: string): string {
  return message.endsWith("received undefined") ? "is missing" : message.replace(/^Invalid input: /, "");
}
