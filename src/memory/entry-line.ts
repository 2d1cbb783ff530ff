import type { Message, ToolResultBlock } from "../protocol/message.ts";
import { isRecord } from "../protocol/record.ts";
import type { SessionEntry } from "../protocol/session.ts";

/** One entry as a line. Its type comes first, so that a reader knows what it is before it parses it. */
export function toLine(entry: SessionEntry): string {
  const { type, ...rest } = entry;
  const json = JSON.stringify({ type, ...rest });
  // Legal in JSON, but many readers of lines take them for an end of line.
  return `${json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}\n`;
}

/** True for a line that says so at its beginning, as `toLine` writes it. */
export function hasType(line: Buffer, ...types: readonly SessionEntry["type"][]): boolean {
  const head = line.toString("latin1", 0, 24);
  return types.some((type) => head.startsWith(`{"type":"${type}"`));
}

/** Undefined for a line that is damaged or none of ours. */
export function parseLine(line: Buffer): SessionEntry | undefined {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return isEntry(value) ? value : undefined;
  } catch {
    // A line that a crash cut off.
    return undefined;
  }
}

function isEntry(value: unknown): value is SessionEntry {
  if (!isRecord(value) || typeof value.at !== "string" || !hasSoundFields(value)) return false;
  switch (value.type) {
    case "header":
      return (
        ["id", "cwd", "agent", "model", "system"].every((key) => typeof value[key] === "string") &&
        Array.isArray(value.tools) &&
        value.tools.every(isToolSpec)
      );
    case "message":
      return isMessage(value.message);
    case "tool_result":
      return isResult(value.result);
    case "round_end":
      return true;
    case "compaction":
    case "rewind":
      return Array.isArray(value.history) && value.history.every(isMessage);
    case "spent":
      return isRecord(value.usage);
    case "tools_added":
      return Array.isArray(value.tools) && value.tools.every(isToolSpec);
    case "name":
      return typeof value.name === "string";
    case "mode":
      return typeof value.mode === "string";
    case "checkpoint":
      return (
        typeof value.id === "string" &&
        /^[0-9a-f]{40,64}$/.test(value.id) &&
        (value.phase === "before" || value.phase === "after") &&
        value.turn !== undefined
      );
    default:
      return false;
  }
}

/** What entries may have: of the right kind, or not there. */
function hasSoundFields({ usage, cost, turn, mail, reminder, steering, parent }: Record<string, unknown>): boolean {
  return (
    (usage === undefined || isUsage(usage)) &&
    [cost, turn].every((value) => value === undefined || typeof value === "number") &&
    [reminder, steering, parent].every((value) => value === undefined || typeof value === "string") &&
    (mail === undefined || (Array.isArray(mail) && mail.every((id) => typeof id === "string")))
  );
}

function isUsage(value: unknown): boolean {
  return isRecord(value) && ["input", "output", "cacheRead", "cacheWrite"].every((key) => typeof value[key] === "number");
}

function isToolSpec(value: unknown): boolean {
  return isRecord(value) && typeof value.name === "string" && typeof value.description === "string" && isRecord(value.inputSchema);
}

function isMessage(value: unknown): value is Message {
  if (!isRecord(value) || !Array.isArray(value.content) || !value.content.every(isBlock)) return false;
  return value.role === "user" || (value.role === "assistant" && typeof value.provider === "string" && typeof value.model === "string");
}

function isBlock(value: unknown): boolean {
  if (!isRecord(value)) return false;
  switch (value.type) {
    case "text":
    case "thinking":
      return typeof value.text === "string";
    case "image":
      return typeof value.data === "string" && typeof value.mediaType === "string";
    case "tool_use":
      return typeof value.id === "string" && typeof value.name === "string" && isRecord(value.input);
    case "tool_result":
      return isResult(value);
    case "opaque":
      return typeof value.provider === "string";
    default:
      return false;
  }
}

function isResult(value: unknown): value is ToolResultBlock {
  return isRecord(value) && typeof value.toolUseId === "string" && Array.isArray(value.content) && value.content.every(isBlock);
}
