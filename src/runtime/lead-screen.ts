import type { AgentEvent } from "../protocol/agent.ts";
import type { AskHuman } from "../protocol/permission.ts";
import type { MemberStatus } from "../protocol/team.ts";
import type { LeadAnswer } from "../team/lead-answers.ts";
import type { AskUser } from "../tools/builtin/ask-user.ts";

export type LeadScreen = {
  event: (event: AgentEvent) => void;
  status: (status: MemberStatus, detail?: string) => void;
  note: (text: string) => void;
  /** Absent when nobody can answer. `alwaysRule` is what "always" would write. */
  askHuman?: (alwaysRule: string | undefined, ...question: Parameters<AskHuman>) => ReturnType<AskHuman>;
  askUser: AskUser;
  /** Absent when nobody can answer; undefined when nobody did. */
  askPlan?: (from: string, plan: string, signal: AbortSignal) => Promise<LeadAnswer | undefined>;
};
