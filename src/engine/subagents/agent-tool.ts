import * as z from "zod";
import { defineWrittenTool } from "../../protocol/define-tool.ts";
import { UserError } from "../../protocol/errors.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../protocol/permission.ts";
import { errorResult, type Tool, type ToolContext, type ToolResult, textResult } from "../../protocol/tool.ts";

export const agentSchema = () =>
  z.strictObject({
    prompt: z.string().min(1).describe(FIELDS.prompt),
    description: z.string().min(1).describe(FIELDS.description),
    subagent_type: z.string().optional().describe(FIELDS.subagent_type),
    model: z.string().optional().describe(FIELDS.model),
    run_in_background: z.boolean().optional().describe(FIELDS.run_in_background),
    name: z.string().optional().describe(FIELDS.name),
    isolation: z.enum(["worktree"]).optional().describe(FIELDS.isolation),
    plan_mode_required: z.boolean().optional().describe(FIELDS.plan_mode_required),
    permission_mode: z.enum(PERMISSION_MODES).optional().describe(FIELDS.permission_mode),
  });

const FIELDS = {
  prompt: "All it needs to know: goal, places, conventions, what to answer with. Only a fork knows your conversation.",
  description: "What it is for, in 3 to 8 words.",
  subagent_type: "Which kind. Without it: a fork, which knows all that you know.",
  model: "Another model than yours, as [provider/]id or sonnet, opus, haiku.",
  run_in_background: "Go on at once; its result comes later, by itself.",
  name: "To write to it by. In a team's lead: makes it a teammate of this name (1 to 32 letters, digits, - or _).",
  isolation: "worktree: it works in a git worktree and branch of its own.",
  plan_mode_required: "Of a teammate: it plans first and changes nothing before you approved its plan.",
  permission_mode:
    "Of a teammate: stricter than the lead's mode; a wider one is cut to it. plan: it plans first and changes nothing before its plan is approved.",
} as const;

const INPUT_SCHEMA = {
  type: "object",
  properties: {
    prompt: { type: "string", minLength: 1, description: FIELDS.prompt },
    description: { type: "string", minLength: 1, description: FIELDS.description },
    subagent_type: { description: FIELDS.subagent_type, type: "string" },
    model: { description: FIELDS.model, type: "string" },
    run_in_background: { description: FIELDS.run_in_background, type: "boolean" },
    name: { description: FIELDS.name, type: "string" },
    isolation: { description: FIELDS.isolation, type: "string", enum: ["worktree"] },
    plan_mode_required: { description: FIELDS.plan_mode_required, type: "boolean" },
    permission_mode: { description: FIELDS.permission_mode, type: "string", enum: [...PERMISSION_MODES] },
  },
  required: ["prompt", "description"],
  additionalProperties: false,
};

export type AgentCall = z.output<ReturnType<typeof agentSchema>>;
export type TeammateRequest = {
  name: string;
  prompt: string;
  description: string;
  model?: string;
  permissionMode?: PermissionMode;
  planModeRequired?: true;
};
export type AgentToolParts = {
  /** Runs or launches a sub-agent; throws a UserError with the reason when it can't. */
  runSubagent: (call: AgentCall, context: ToolContext) => Promise<ToolResult>;
  /** Of a team's lead: answers with what the model should know. */
  spawnTeammate?: (request: TeammateRequest, signal: AbortSignal) => Promise<string>;
  hasVerification?: boolean;
};

/** A teammate has all tools: both names say so, and models that know other harnesses send the second. */
const TEAMMATE_TYPES = new Set(["worker", "general-purpose"]);

const SUBAGENTS = [
  "Starts a sub-agent: another agent with a conversation and tools of its own. Use it for a search that would fill your conversation, for parts that can be done beside each other (several calls in one answer), for a fresh look. Not for what one or two calls of your own tools do.",
  "Types: Explore (reads and searches, fast), Plan (designs a change), general-purpose (does the work).",
  "Without a type it is a fork: it knows this whole conversation and works in the background.",
  "You get its last words as result; the person does not see them, so say what matters. In the background you get its id at once and the result later in a <task-notification>: go on with other work or end your turn, never wait or guess the result. SendMessage goes on with one that is done.",
];
const VERIFICATION = "Type Verification tries to break finished work, in the background, and ends with a verdict.";
const TEAMMATES = [
  "With a name: starts a teammate, a coding agent in a process of its own with its own git worktree and branch. It takes tasks from the shared list, and its words reach you as messages and as a notice when it is idle. Its prompt holds the goal, its part, the conventions and how the result is checked. Several calls in one answer start several teammates at once. Answers when the teammate is ready, or with the reason why it did not start.",
  "Without a name:",
];

/** The one tool that starts agents: sub-agents everywhere, teammates in a team's lead. */
export function agentTool({ runSubagent, spawnTeammate, hasVerification = false }: AgentToolParts): Tool {
  return defineWrittenTool({
    name: "Agent",
    description: [...(spawnTeammate ? TEAMMATES : []), ...SUBAGENTS, ...(hasVerification ? [VERIFICATION] : [])].join("\n"),
    inputSchema: INPUT_SCHEMA,
    schema: agentSchema,
    access: ({ description, subagent_type }) => ({ kind: "other", subject: subagent_type ?? description }),
    isConcurrencySafe: () => true,
    async run(call, context) {
      try {
        if (call.name !== undefined && spawnTeammate)
          return textResult(await spawnTeammate(teammateRequest(call, call.name), context.signal));
        if (call.permission_mode !== undefined || call.plan_mode_required)
          return errorResult("permission_mode and plan_mode_required are for teammates, which only a team's lead starts.");
        return await runSubagent(call, context);
      } catch (error) {
        if (error instanceof UserError) return errorResult(error.message);
        throw error;
      }
    },
  });
}

function teammateRequest(call: AgentCall, name: string): TeammateRequest {
  const { prompt, description, subagent_type, model, permission_mode, plan_mode_required } = call;
  if (subagent_type !== undefined && !TEAMMATE_TYPES.has(subagent_type))
    throw new UserError(`There is no teammate type "${subagent_type}". Leave subagent_type out, or the name for a sub-agent.`);
  return {
    name,
    prompt,
    description,
    ...(model ? { model } : {}),
    ...(permission_mode ? { permissionMode: permission_mode } : {}),
    ...(plan_mode_required ? { planModeRequired: true } : {}),
  };
}
