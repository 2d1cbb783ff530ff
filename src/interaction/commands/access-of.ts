import type { Access } from "../../protocol/tool.ts";

/** What a call of a known tool would touch, from its bare input: for calls that are judged without the tools themselves. */
export function accessOf(tool: string, input: Record<string, unknown>): Access {
  const path = text(input.path) ?? text(input.file_path);
  switch (tool) {
    case "Bash":
      return { kind: "command", subject: text(input.command) ?? "" };
    case "ReadFile":
      return { kind: "read", subject: path ?? "", paths: [path ?? ""] };
    case "WriteFile":
    case "EditFile":
      return { kind: "write", subject: path ?? "", paths: [path ?? ""] };
    case "Glob":
    case "Grep":
      return { kind: "read", subject: text(input.pattern) ?? "", paths: [path ?? "."] };
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
