import type { AgentEvent, LoopComplete } from "../protocol/agent.ts";
import type { Message } from "../protocol/message.ts";
import { addUsage, NO_USAGE, type Usage } from "../protocol/model.ts";
import { retryText } from "../team/agent-presence.ts";
import { compactedText } from "./compacted-text.ts";
import { jsonLine } from "./json-line.ts";
import { exitCodeOf, OPEN_QUESTION } from "./output.ts";
import type { PartialMessages } from "./partial-messages.ts";

export const OUTPUT_FORMATS = ["text", "json", "stream-json", "events"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export type PrintOptions = {
  format: OutputFormat;
  sessionId: string;
  agent: string;
  model: string;
  cwd: string;
  permissionMode: string;
  tools: readonly string[];
  mcpServers?: readonly { name: string; status: string }[];
  write(text: string): void;
  /** Progress and warnings; never the answer. */
  note(text: string): void;
  openQuestions(): number;
  /** Entries of the session that could not be written. */
  unsaved?(): number;
  /** With stream-json: answers while they are written, too. */
  partial?: PartialMessages | undefined;
  /** Another run of the same output: what stands at its beginning was said. */
  isLater?: boolean;
};

/** Whose step it is; `callId` is empty where no call of the conversation started it. */
export type SubagentLabel = { id: string; label: string; callId: string };

/** Prints one run to its end and gives its exit code. On stdout: the answer (text), one object (json) or JSON lines. */
export async function printRun(events: AsyncIterable<AgentEvent>, options: PrintOptions): Promise<number> {
  const started = performance.now();
  const denials: { tool_name: string; tool_use_id: string; tool_input: unknown }[] = [];
  const calls = new Map<string, unknown>();
  const line = (value: unknown) => options.write(jsonLine(value));
  let usage: Usage = NO_USAGE;
  let end: LoopComplete | undefined;
  if (options.format === "stream-json" && !options.isLater) line(initLine(options));
  if (options.format === "events" && !options.isLater)
    line({ type: "start", version: 1, session: options.sessionId, agent: options.agent });

  for await (const event of events) {
    if (options.format === "events") line(event);
    if (options.format === "stream-json")
      for (const part of options.partial?.of(event) ?? [])
        line({ type: "stream_event", event: part, parent_tool_use_id: null, session_id: options.sessionId });
    switch (event.type) {
      case "message":
        if (event.usage) usage = addUsage(usage, event.usage);
        if (options.format === "stream-json" && event.message.role === "assistant") line(streamLine(event.message, options, event.usage));
        break;
      case "tool_use":
        calls.set(event.call.id, event.call.input);
        break;
      case "permission":
        if (event.decision.decision === "deny") {
          denials.push({ tool_name: event.request.tool, tool_use_id: event.id, tool_input: calls.get(event.id) ?? {} });
          if (options.format === "text") options.note(`denied: ${deniedText(event)}`);
        }
        break;
      case "tool_result":
        if (options.format === "stream-json") line(resultLine(event, options));
        break;
      case "retry":
        if (options.format !== "events") options.note(retryText(event));
        break;
      case "notice":
        if (options.format !== "events") options.note(event.text);
        break;
      case "compacted":
        if (options.format !== "events") options.note(compactedText(event));
        break;
      case "loop_complete":
        end = event;
        break;
      default:
        break;
    }
  }
  if (!end) throw new Error("The agent loop ended without loop_complete.");
  const code = exitCodeOf(end, options.openQuestions());
  if (options.format === "text") {
    if (end.text !== "" && end.reason === "end_turn") options.write(`${end.text}\n`);
    else if (end.reason !== "end_turn") options.note(endText(end));
  } else if (options.format !== "events") {
    line({
      type: "result",
      subtype: end.reason === "end_turn" ? "success" : end.reason === "max_turns" ? "error_max_turns" : "error_during_execution",
      is_error: code !== 0,
      num_turns: end.turns,
      duration_ms: Math.round(performance.now() - started),
      result: end.reason === "end_turn" ? end.text : endText(end),
      session_id: options.sessionId,
      usage: wireUsage(usage),
      total_cost_usd: end.cost ?? 0,
      permission_denials: denials,
      ...errorField(end, code),
      ...unsavedField(options.unsaved?.() ?? 0),
    });
  }
  return code;
}

/** `kind` is a ModelErrorKind, or how else the run ended. */
function errorField(end: LoopComplete, code: number): { error?: { kind: string; message: string } } {
  if (code === 0) return {};
  if (code === OPEN_QUESTION)
    return { error: { kind: "open_question", message: "A question was left open: nobody was there to answer it." } };
  return { error: { kind: end.error?.kind ?? (end.reason === "aborted" ? "interrupted" : end.reason), message: endText(end) } };
}

/** The result of a run that never began. */
export function failedLine(sessionId: string, kind: string, message: string): string {
  return jsonLine({
    type: "result",
    subtype: "error_during_execution",
    is_error: true,
    num_turns: 0,
    duration_ms: 0,
    result: message,
    session_id: sessionId,
    usage: wireUsage(NO_USAGE),
    total_cost_usd: 0,
    permission_denials: [],
    error: { kind, message },
  });
}

/** Only where something is missing: such a session can't be gone on with as it was. */
function unsavedField(count: number): { unsaved_entries?: number } {
  return count > 0 ? { unsaved_entries: count } : {};
}

export function endText(end: LoopComplete): string {
  if (end.error) return end.error.message;
  if (end.reason === "aborted") return "Interrupted.";
  return end.text;
}

function initLine(options: PrintOptions): unknown {
  return {
    type: "system",
    subtype: "init",
    session_id: options.sessionId,
    cwd: options.cwd,
    model: options.model,
    permissionMode: options.permissionMode,
    tools: options.tools,
    mcp_servers: options.mcpServers ?? [],
  };
}

/** A step of a sub-agent: a denial as text, with stream-json its words and results under the call that started it. */
export function printSubagent(event: AgentEvent, { id, label, callId }: SubagentLabel, options: PrintOptions): void {
  if (options.format === "text" && event.type === "permission" && event.decision.decision === "deny")
    options.note(`denied (${label}): ${deniedText(event)}`);
  if (options.format !== "stream-json") return;
  // Without a call of the conversation's it is nobody's but its own: null would make it the conversation.
  const parent = callId === "" ? id : callId;
  if (event.type === "message" && event.message.role === "assistant")
    options.write(jsonLine(streamLine(event.message, options, event.usage, parent)));
  if (event.type === "tool_result") options.write(jsonLine(resultLine(event, options, parent)));
}

function deniedText({ request, decision }: Extract<AgentEvent, { type: "permission" }>): string {
  return `${request.tool}(${request.access.subject.slice(0, 200)}): ${decision.reason}`;
}

function streamLine(
  message: Extract<Message, { role: "assistant" }>,
  options: PrintOptions,
  usage: Usage | undefined,
  parent: string | null = null,
): unknown {
  const content = message.content.flatMap((block): unknown[] => {
    switch (block.type) {
      case "text":
        return [{ type: "text", text: block.text }];
      case "thinking":
        return [{ type: "thinking", thinking: block.text, signature: block.signature ?? "" }];
      case "tool_use":
        return [{ type: "tool_use", id: block.id, name: block.name, input: block.input }];
      case "opaque":
        return [];
    }
  });
  const body = { role: "assistant", model: message.model, content, ...(usage ? { usage: wireUsage(usage) } : {}) };
  return { type: "assistant", message: body, parent_tool_use_id: parent, session_id: options.sessionId };
}

function resultLine(
  { call, result }: Extract<AgentEvent, { type: "tool_result" }>,
  options: PrintOptions,
  parent: string | null = null,
): unknown {
  const content = result.content.map((block) =>
    block.type === "text"
      ? { type: "text", text: block.text }
      : { type: "image", source: { type: "base64", media_type: block.mediaType, data: block.data } },
  );
  const block = { type: "tool_result", tool_use_id: call.id, content, is_error: result.isError ?? false };
  return { type: "user", message: { role: "user", content: [block] }, parent_tool_use_id: parent, session_id: options.sessionId };
}

export function wireUsage(usage: Usage): unknown {
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite,
  };
}
