import * as z from "zod";
import { defineWrittenTool } from "../../protocol/define-tool.ts";
import { errorResult, type Tool, type ToolResult } from "../../protocol/tool.ts";

const FIELDS = { to: "Its name or id.", summary: "5 to 10 words.", message: "Work or news, with all it needs to know." } as const;

export const sendSchema = () =>
  z.strictObject({
    to: z.string().min(1).describe(FIELDS.to),
    summary: z.string().optional().describe(FIELDS.summary),
    message: z.string().min(1).describe(FIELDS.message),
  });

const INPUT_SCHEMA = {
  type: "object",
  properties: {
    to: { type: "string", minLength: 1, description: FIELDS.to },
    summary: { description: FIELDS.summary, type: "string" },
    message: { type: "string", minLength: 1, description: FIELDS.message },
  },
  required: ["to", "message"],
  additionalProperties: false,
};

/** In a session without a team: to its sub-agents. `send` gives undefined for one that nobody knows. */
export function sendToAgentTool(
  send: (to: string, text: string, signal: AbortSignal) => Promise<ToolResult | undefined>,
  names: () => Promise<string[]>,
): Tool {
  return defineWrittenTool({
    name: "SendMessage",
    description:
      "Writes to a sub-agent that you started. One that runs reads it with its next round; one that has ended goes on with all it knew, in the background.",
    inputSchema: INPUT_SCHEMA,
    schema: sendSchema,
    access: ({ to }) => ({ kind: "other", subject: to }),
    async run({ to, message }, { signal }) {
      const sent = await send(to, message, signal);
      if (sent) return sent;
      const known = await names();
      return errorResult(
        `There is no sub-agent "${to}". ${known.length === 0 ? "You have started none." : `Sub-agents: ${known.join(", ")}.`}`,
      );
    },
  });
}
