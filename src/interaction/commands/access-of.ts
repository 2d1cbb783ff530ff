import type { Access } from "../../protocol/tool.ts";

/**
 * What a call would touch, from its bare input: for calls that are judged without the tools themselves. A string instead of an Access
 * says which field is missing.
 */
export function accessOf(tool: string, input: Record<string, unknown>): Access | string {
  const path = text(input.path) ?? text(input.file_path) ?? text(input.filePath);
  const needs = (field: string) => `${tool} needs "${field}" as a text in its input`;
  switch (tool) {
    case "Bash": {
      const command = text(input.command);
      return command === undefined ? needs("command") : { kind: "command", subject: command };
    }
    case "ReadFile":
      return path === undefined ? needs("path") : { kind: "read", subject: path, paths: [path] };
    case "WriteFile":
    case "EditFile":
      return path === undefined ? needs("path") : { kind: "write", subject: path, paths: [path] };
    case "Glob":
    case "Grep": {
      const pattern = text(input.pattern);
      return pattern === undefined ? needs("pattern") : { kind: "read", subject: pattern, paths: [path || "."] };
    }
    case "Agent":
      return { kind: "other", subject: text(input.subagent_type) ?? "" };
    case "LoadSkill":
      return { kind: "other", subject: text(input.name) ?? text(input.skill) ?? "" };
    case "WebFetch":
      return { kind: "command", subject: text(input.url) ?? "" };
    case "TeamCreate":
      return { kind: "command", subject: text(input.goal) ?? "" };
    default:
      return tool.startsWith("mcp__") ? { kind: "command", subject: JSON.stringify(input) } : { kind: "other", subject: "" };
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
