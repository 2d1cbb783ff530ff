import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import { UserError } from "../../protocol/errors.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../protocol/permission.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";

const schema = z.strictObject({
  prompt: z.string().min(1).describe("Everything the teammate needs to know: it sees nothing of your conversation."),
  description: z.string().min(1).describe("What it is for, in 3 to 8 words."),
  name: z.string().optional().describe("Makes it a teammate of this name: 1 to 32 letters, digits, - or _."),
  subagent_type: z.string().optional(),
  model: z.string().optional().describe("Another model than the lead's, as [provider/]id or sonnet, opus, haiku."),
  permission_mode: z.enum(PERMISSION_MODES).optional().describe("Stricter than the lead's mode; a wider one is cut to it."),
});

/** A teammate has all tools: both names say so, and models that know other harnesses send the second. */
const TEAMMATE_TYPES = new Set(["worker", "general-purpose"]);

export type TeammateRequest = { name: string; prompt: string; description: string; model?: string; permissionMode?: PermissionMode };

/** Starts teammates; `spawnTeammate` answers with what the model should know, or throws a UserError with the reason. */
export function agentTool(spawnTeammate: (request: TeammateRequest, signal: AbortSignal) => Promise<string>): Tool {
  return defineTool({
    name: "Agent",
    description: [
      "Starts a teammate: a coding agent in a process of its own, with its own git worktree and branch. It takes tasks from the shared list, and its words reach you as messages and as a notice when it is idle.",
      "Give a name, and a prompt that holds the goal, its part, the conventions and how the result is checked. Several calls in one answer start several teammates at once.",
      "Answers when the teammate is ready, or with the reason why it did not start.",
    ].join("\n"),
    schema,
    access: ({ description, subagent_type }) => ({ kind: "other", subject: subagent_type ?? description }),
    isConcurrencySafe: () => true,
    async run(input, { signal }) {
      if (input.name === undefined) return errorResult("Give a name: here the Agent tool starts teammates only.");
      if (input.subagent_type !== undefined && !TEAMMATE_TYPES.has(input.subagent_type))
        return errorResult(`There is no teammate type "${input.subagent_type}". Leave subagent_type out.`);
      try {
        const answer = await spawnTeammate(
          {
            name: input.name,
            prompt: input.prompt,
            description: input.description,
            ...(input.model ? { model: input.model } : {}),
            ...(input.permission_mode ? { permissionMode: input.permission_mode } : {}),
          },
          signal,
        );
        return textResult(answer);
      } catch (error) {
        if (error instanceof UserError) return errorResult(error.message);
        throw error;
      }
    },
  });
}
