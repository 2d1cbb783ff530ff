import { isAbsolute, resolve } from "node:path";
import type { HookAgent, HookEvent } from "../../protocol/hook.ts";
import { isRecord } from "../../protocol/record.ts";
import { resultText } from "../../protocol/tool.ts";
import type { Facts } from "./condition.ts";
import { EVENTS } from "./events.ts";

export type Ground = { home: string; projectRoot: string; root: string };

/** Longer texts are cut: what a hook needs whole it reads where it lies. */
const MAX_TEXT = 200_000;
/** One variable can't be longer on Linux. */
const MAX_VARIABLE = 100_000;
const CLAUDE_TOOLS: Readonly<Record<string, string>> = {
  ReadFile: "Read",
  WriteFile: "Write",
  EditFile: "Edit",
  Agent: "Task",
  LoadSkill: "Skill",
};
const FILE_TOOLS = new Set(["ReadFile", "WriteFile", "EditFile"]);

/** What the hook reads: the event in our words, and in Claude Code's where it has them, so that a script made for that works here. */
export function payloadOf(event: HookEvent, agent: HookAgent): Record<string, unknown> {
  const { claude } = EVENTS[event.event];
  const task = agent.task?.();
  const mode = agent.mode?.();
  return {
    ...wordsOf(event),
    agent: agent.agent,
    agent_type: agent.agentType,
    ...(agent.team === undefined ? {} : { team: agent.team }),
    ...(task === undefined ? {} : { task_id: task }),
    ...(agent.worktree === undefined ? {} : { worktree: agent.worktree }),
    session_id: agent.session,
    ...(agent.transcript === undefined ? {} : { transcript_path: agent.transcript }),
    cwd: agent.cwd(),
    ...(mode === undefined ? {} : { permission_mode: mode }),
    hook_event_name: claude ?? event.event,
    ...claudeWords(event),
  };
}

function wordsOf(event: HookEvent): Record<string, unknown> {
  const fields = Object.entries(event).map(([key, value]): [string, unknown] => [
    key.replaceAll(/[A-Z]/g, (one) => `_${one.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(
    fields.map(([key, value]) => [
      key,
      key === "result" && "result" in event ? { text: cut(resultText(event.result)), is_error: event.result.isError ?? false } : cut(value),
    ]),
  );
}

function claudeWords(event: HookEvent): Record<string, unknown> {
  switch (event.event) {
    case "pre_tool_use":
      return claudeCall(event.tool, event.input, event.callId);
    case "post_tool_use":
      return {
        ...claudeCall(event.tool, event.input, event.callId),
        tool_response: { content: cut(resultText(event.result)), success: true },
      };
    case "post_tool_failure":
      return { ...claudeCall(event.tool, event.input, event.callId), error: cut(resultText(event.result)) };
    case "stop":
    case "subagent_stop":
    case "teammate_idle":
      return { stop_hook_active: event.isAgain, last_assistant_message: cut(event.text) };
    case "notification":
      return { notification_type: event.kind === "permission" ? "permission_prompt" : "elicitation_dialog" };
    default:
      return {};
  }
}

function claudeCall(tool: string, input: unknown, callId: string): Record<string, unknown> {
  return { tool_name: CLAUDE_TOOLS[tool] ?? tool, tool_input: claudeInput(tool, input), tool_use_id: callId };
}

function claudeInput(tool: string, input: unknown): unknown {
  if (!FILE_TOOLS.has(tool) || !isRecord(input)) return input;
  const { path, ...rest } = input;
  return { file_path: path, ...rest };
}

/** Fields that a hook gave for a call, in the words of our tools. */
export function ownFields(tool: string, fields: Record<string, unknown>): Record<string, unknown> {
  if (!FILE_TOOLS.has(tool) || fields.file_path === undefined) return fields;
  const { file_path: path, ...rest } = fields;
  return { path, ...rest };
}

/** For conditions. */
export function factsOf(event: HookEvent, agent: HookAgent, ground: Ground): Facts {
  const input = "input" in event ? event.input : undefined;
  const cwd = agent.cwd();
  return {
    values: {
      ...event,
      ...(isRecord(input) ? { command: input.command } : {}),
      agent: agent.agent,
      agent_type: agent.agentType,
      team: agent.team,
      worktree: agent.worktree ?? ("worktree" in event ? event.worktree : undefined),
      task: "task" in event ? event.task.id : agent.task?.(),
      mode: agent.mode?.(),
      cwd,
    },
    input,
    paths: pathsOf(input, cwd),
    roots: [...new Set([cwd, agent.worktree ?? ground.root, ground.projectRoot])],
    home: ground.home,
  };
}

/** For the environment of a command: never a part of its text. `tooLong`: names of those that no environment can hold. */
export function variablesOf(
  event: HookEvent,
  agent: HookAgent,
  ground: Ground,
): { variables: Record<string, string>; tooLong: readonly string[] } {
  const { values, paths } = factsOf(event, agent, ground);
  const [first] = paths;
  const given: Record<string, unknown> = {
    EVENT: event.event,
    TOOL: values.tool,
    FILE_PATH: first,
    COMMAND: values.command,
    AGENT: agent.agent,
    AGENT_TYPE: agent.agentType,
    TEAM: agent.team,
    TASK: values.task,
    WORKTREE: values.worktree,
    SESSION_ID: agent.session,
    PROJECT_DIR: ground.projectRoot,
    CLAUDE_PROJECT_DIR: ground.projectRoot,
  };
  const texts = Object.entries(given).flatMap(([name, value]): [string, string][] => (typeof value === "string" ? [[name, value]] : []));
  const fits = ([, value]: [string, string]) => !value.includes("\0") && Buffer.byteLength(value) <= MAX_VARIABLE;
  return { variables: Object.fromEntries(texts.filter(fits)), tooLong: texts.filter((one) => !fits(one)).map(([name]) => name) };
}

/** By the names that tools give the field, those of MCP servers too. */
function pathsOf(input: unknown, cwd: string): string[] {
  if (!isRecord(input)) return [];
  const named = [input.path, input.file_path, ...(Array.isArray(input.paths) ? input.paths : [])];
  return named.flatMap((path) => (typeof path === "string" && path !== "" ? [isAbsolute(path) ? resolve(path) : resolve(cwd, path)] : []));
}

function cut(value: unknown): unknown {
  if (typeof value !== "string" || value.length <= MAX_TEXT) return value;
  return `${value.slice(0, MAX_TEXT)}… [${value.length} characters]`;
}
