import * as z from "zod";
import { PERMISSION_MODES } from "../../protocol/permission.ts";
import {
  type AgentState,
  BACKEND_KINDS,
  type Envelope,
  PLAN_APPROVERS,
  type ProcessIdentity,
  TASK_STATUSES,
  type TeamConfig,
  type TeamTask,
} from "../../protocol/team.ts";

const tokens = z.number().nonnegative();
const spent = z.looseObject({
  usage: z.object({ input: tokens, output: tokens, cacheRead: tokens, cacheWrite: tokens }),
  cost: z.number().optional(),
});
const identity = z.object({ pid: z.number().int(), startedAt: z.string(), host: z.string().optional() });
const mode = z.enum(PERMISSION_MODES);
const backendKind = z.enum(BACKEND_KINDS);

const teammate = z.looseObject({
  name: z.string(),
  agentId: z.string(),
  agentType: z.string(),
  model: z.string().optional(),
  worktreePath: z.string(),
  branch: z.string(),
  baseCommit: z.string(),
  ports: z.object({ first: z.number().int(), size: z.number().int() }).optional(),
  backendType: backendKind,
  paneId: z.string().optional(),
  process: identity.optional(),
  epoch: z.number().int(),
  isActive: z.boolean().optional(),
  stoppedAt: z.string().optional(),
  planModeRequired: z.boolean(),
  planApproved: z.literal(true).optional(),
  permissionMode: mode,
});

/** Fields that this version does not know are kept, so that an older program does not erase what a newer one wrote. */
export const TeamConfigSchema: z.ZodType<TeamConfig> = z.looseObject({
  version: z.literal(1),
  revision: z.number().int().positive(),
  name: z.string(),
  goal: z.string(),
  leadAgentId: z.string(),
  repoRoot: z.string(),
  baseBranch: z.string(),
  baseCommit: z.string(),
  check: z.string().optional(),
  members: z.array(teammate),
  lead: z.looseObject({ process: identity, permissionMode: mode, model: z.string().optional(), session: z.string().optional() }).optional(),
  backend: z.looseObject({ kind: backendKind, reason: z.string() }).optional(),
  merge: z.boolean().optional(),
  plan: z.enum(PLAN_APPROVERS).optional(),
  maxCost: z.number().positive().optional(),
});

export const TeamTaskSchema: z.ZodType<TeamTask> = z.looseObject({
  id: z.string(),
  revision: z.number().int().positive(),
  subject: z.string(),
  description: z.string(),
  status: z.enum(TASK_STATUSES),
  owner: z.string().optional(),
  blockedBy: z.array(z.string()),
  check: z.string().optional(),
  key: z.string().optional(),
  attempts: z.number().int(),
  commit: z.string().optional(),
  noChange: z.literal(true).optional(),
  note: z.string().optional(),
  spent: spent.optional(),
  claim: z.looseObject({ ...identity.shape, owner: z.string(), epoch: z.number().int() }).optional(),
});

const access = z.object({
  kind: z.enum(["read", "write", "command", "other"]),
  subject: z.string(),
  paths: z.array(z.string()).optional(),
});

const body = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.enum(["task_assignment", "message", "status_update"]),
    summary: z.string(),
    text: z.string(),
    taskId: z.string().optional(),
    interrupt: z.literal(true).optional(),
  }),
  z.looseObject({
    type: z.literal("idle_notification"),
    reason: z.enum(["done", "waiting", "blocked", "failed"]),
    lastText: z.string(),
    commits: z.array(z.string()),
  }),
  z.looseObject({ type: z.enum(["plan_approval_request", "shutdown_request"]), text: z.string() }),
  z.looseObject({
    type: z.literal("permission_request"),
    request: z.object({ agent: z.string(), tool: z.string(), access }),
    reason: z.string(),
    alwaysRule: z.string().optional(),
  }),
  z.looseObject({ type: z.literal("permission_settled"), requestId: z.string() }),
  z.looseObject({
    type: z.enum(["plan_approval_response", "shutdown_response", "permission_response"]),
    requestId: z.string(),
    approve: z.boolean(),
    feedback: z.string().optional(),
  }),
]);

export const EnvelopeSchema: z.ZodType<Envelope> = z
  .object({
    version: z.literal(1),
    id: z.string(),
    epoch: z.number().int().nonnegative(),
    seq: z.number().int().nonnegative(),
    from: z.string(),
    to: z.string(),
    at: z.string(),
    body,
    mac: z.string().optional(),
  })
  .refine((envelope) => envelope.id === envelopeId(envelope.from, envelope.epoch, envelope.seq), "the id does not fit the sender");

export function envelopeId(from: string, epoch: number, seq: number): string {
  return `${from}.${epoch}.${seq}`;
}

export type PresenceRecord = AgentState & { process: ProcessIdentity };
export const PresenceSchema: z.ZodType<PresenceRecord> = z.object({
  name: z.string(),
  status: z.enum(["starting", "busy", "waiting", "idle", "stopped", "failed", "dead", "unreachable"]),
  detail: z.string().optional(),
  at: z.string(),
  spent: spent.optional(),
  process: identity,
});
