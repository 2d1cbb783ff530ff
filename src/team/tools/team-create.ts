import * as z from "zod";
import { defineWrittenTool } from "../../protocol/define-tool.ts";
import { UserError } from "../../protocol/errors.ts";
import { errorResult, type Tool, type ToolResult } from "../../protocol/tool.ts";

const FIELDS = {
  goal: "What the team is to bring about, with all that its lead has to know: it does not know this conversation.",
  name: "Its name; else one is made of the goal.",
  check: "A shell command that must exit 0 on the merged work, such as npm test.",
} as const;

export const teamCreateSchema = () =>
  z.strictObject({
    goal: z.string().trim().min(1).describe(FIELDS.goal),
    name: z.string().optional().describe(FIELDS.name),
    check: z.string().optional().describe(FIELDS.check),
  });
export type TeamCreateInput = z.output<ReturnType<typeof teamCreateSchema>>;

const INPUT_SCHEMA = {
  type: "object",
  properties: {
    goal: { type: "string", minLength: 1, description: FIELDS.goal },
    name: { description: FIELDS.name, type: "string" },
    check: { description: FIELDS.check, type: "string" },
  },
  required: ["goal"],
  additionalProperties: false,
};

/** Of a session's main agent. `create` answers when the team has begun, or throws a UserError with the reason. */
export function teamCreateTool(create: (input: TeamCreateInput, signal: AbortSignal) => Promise<ToolResult>): Tool {
  return defineWrittenTool({
    name: "TeamCreate",
    description: [
      "Starts a team in the background: a lead splits the goal into tasks, teammates do them side by side in git worktrees of their own, from the last commit on, and their work is merged into the branch that is checked out here.",
      "For work of several independent parts, or when the person asks for a team; it costs several times what you alone would.",
      "Answers with its name; the report comes in a <task-notification>: leave its files alone meanwhile. SendMessage to the name writes to its lead, TaskStop ends it, work saved.",
    ].join("\n"),
    inputSchema: INPUT_SCHEMA,
    schema: teamCreateSchema,
    // A rule names the goal; the person sees the check as well, and it is decided by itself.
    access: ({ goal, check }) => ({ kind: "command", subject: check === undefined ? goal : `${goal}\ncheck: ${check}` }),
    async run(input, { signal }) {
      try {
        return await create(input, signal);
      } catch (error) {
        if (error instanceof UserError) return errorResult(error.message);
        throw error;
      }
    },
  });
}
