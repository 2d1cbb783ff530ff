import type { ToolCall, ToolCallContent, ToolCallLocation, ToolCallUpdate, ToolKind } from "@agentclientprotocol/sdk";
import type { ToolUseBlock } from "../../protocol/message.ts";
import { resultText, type ToolResult } from "../../protocol/tool.ts";
import { absolutePath, shownPath } from "../../tools/workspace-path.ts";
import { hunksOf } from "./diffs.ts";

const KINDS: Readonly<Record<string, ToolKind>> = {
  ReadFile: "read",
  EditFile: "edit",
  WriteFile: "edit",
  Glob: "search",
  Grep: "search",
  ToolSearch: "search",
  Bash: "execute",
  BashOutput: "execute",
  WebFetch: "fetch",
  Agent: "think",
  ExitPlanMode: "switch_mode",
};
/** Editors draw contents as Markdown; these are none. */
const VERBATIM = new Set(["ReadFile", "Glob", "Grep", "Bash", "BashOutput"]);
const MAX_TITLE = 200;

/** `who`: the sub-agent whose call it is. */
export function toolCall(call: ToolUseBlock, cwd: string, who = ""): ToolCall {
  return {
    toolCallId: call.id,
    title: `${who === "" ? "" : `${who}: `}${titleOf(call, cwd)}`,
    kind: kindOf(call.name),
    status: "pending",
    rawInput: call.input,
    locations: locationsOf(call, cwd),
  };
}

export function kindOf(tool: string): ToolKind {
  return KINDS[tool] ?? "other";
}

export function callResult(call: ToolUseBlock, result: ToolResult, cwd: string): ToolCallUpdate {
  return { toolCallId: call.id, status: result.isError ? "failed" : "completed", content: contentOf(call, result, cwd) };
}

function contentOf({ name }: ToolUseBlock, result: ToolResult, cwd: string): ToolCallContent[] {
  const { display } = result;
  if (!result.isError && display?.type === "diff") {
    const hunks = hunksOf(display.patch, absolutePath(display.path, cwd));
    if (hunks.length > 0) return hunks;
  }
  const text = resultText(result);
  const shown = text !== "" && VERBATIM.has(name) && !result.isError ? fenced(text) : text;
  const images = result.content.flatMap((block): ToolCallContent[] =>
    block.type === "image" ? [{ type: "content", content: { type: "image", mimeType: block.mediaType, data: block.data } }] : [],
  );
  return [...(shown === "" ? [] : [textContent(shown)]), ...images];
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** The fence is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

function titleOf({ name, input }: ToolUseBlock, cwd: string): string {
  const value = (key: string) => (typeof input[key] === "string" ? input[key] : "");
  const path = value("path") === "" ? "" : shownPath(absolutePath(value("path"), cwd), cwd);
  switch (name) {
    case "ReadFile":
      return `Read ${path}`;
    case "EditFile":
      return `Edit ${path}`;
    case "WriteFile":
      return `Write ${path}`;
    case "Glob":
    case "Grep":
      return cut(`${name} ${value("pattern")}${path === "" ? "" : ` in ${path}`}`);
    case "Bash":
      return cut(value("command"));
    case "WebFetch":
      return cut(`Fetch ${value("url")}`);
    case "Agent":
      return cut(`Agent: ${value("description") || value("prompt")}`);
    case "ExitPlanMode":
      return "Present the plan";
    default:
      return name;
  }
}

/** A title is never empty. */
function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1)}…` : line || "…";
}

function locationsOf({ name, input }: ToolUseBlock, cwd: string): ToolCallLocation[] {
  if (typeof input.path !== "string" || input.path === "") return [];
  const line = name === "ReadFile" && typeof input.offset === "number" ? { line: input.offset } : {};
  return [{ path: absolutePath(input.path, cwd), ...line }];
}
