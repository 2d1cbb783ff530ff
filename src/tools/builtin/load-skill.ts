import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import type { Tool, ToolContext, ToolResult } from "../../protocol/tool.ts";

/** Loads one skill: its words for a skill that works in this conversation, the report of one that works apart. */
export type LoadSkill = (name: string, given: string, context: ToolContext) => Promise<ToolResult>;

export function loadSkillTool(load: LoadSkill): Tool {
  return defineTool({
    name: "LoadSkill",
    description:
      "Brings the instructions of a skill; reminders list the skills there are. Use it before you begin when the request fits one, and follow what it says. A skill may leave you fewer tools until your turn ends, or bring tools of its own. One that works apart gives its report instead.",
    schema: z.object({
      name: z.string().min(1).describe("As listed."),
      arguments: z.string().optional().describe("What the skill is to work on, as the user would type it behind its name."),
    }),
    access: ({ name }) => ({ kind: "other", subject: name }),
    run: ({ name, arguments: given = "" }, context) => load(name, given, context),
  });
}
