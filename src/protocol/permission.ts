import type { ToolUseBlock } from "./message.ts";
import type { Access } from "./tool.ts";

export const PERMISSION_MODES = ["default", "acceptEdits", "plan", "bypassPermissions"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];
/** In an agent's definition only; runtime turns it into a mode (spec.md, section 9). */
export type DefinitionMode = PermissionMode | "dontAsk";
export type PermissionLayer = "danger" | "path" | "rule" | "mode" | "hook" | "human";
/** What the hooks say of a call: their deny and ask count whatever the layers say, their allow only where the mode alone would ask. */
export type HookAdvice = { decision: PermissionDecision["decision"]; reason: string };
/** `call` as it is judged and will be run: hooks may have changed what the model sent. For the person's eyes; nothing is decided by it. */
export type PermissionRequest = { agent: string; tool: string; access: Access; call?: ToolUseBlock; hook?: HookAdvice };
/** A sticky ask is turned into allow by a person, or by a rule whose text is the whole command; never by a mode or a wildcard. */
export type PermissionDecision = {
  decision: "allow" | "deny" | "ask";
  sticky: boolean;
  layer: PermissionLayer;
  rule?: string;
  /** Where the rule stands: file and line. */
  source?: string;
  reason: string;
  /** Beside the reason, for the person alone: it may hold words of others that no model should read. */
  detail?: string;
  parts?: readonly string[];
  /** Of a file tool: where each of `access.paths` led when it was judged, links followed. The tool opens that, and nothing else. */
  resolved?: readonly string[];
};
export type FinalDecision = PermissionDecision & { decision: "allow" | "deny" };
/** Asks the person where the layers say "ask", so what comes back is final. */
export type Authorize = (request: PermissionRequest, signal: AbortSignal) => Promise<FinalDecision>;
/** Hooks may answer in the person's stead; an allow counts only where the mode alone asks. */
export type BeforeAsk = (request: PermissionRequest, decision: PermissionDecision, signal: AbortSignal) => Promise<HookAdvice | undefined>;
/** What a person answered. "always" also writes the narrowest rule into the local layer; `refusal` is a no with words for the model. */
export type HumanAnswer = "yes" | "no" | "always" | { refusal: string };
/** `undefined` when no human is there: the ask becomes a denial. */
export type AskHuman = (request: PermissionRequest, decision: PermissionDecision, signal: AbortSignal) => Promise<HumanAnswer | undefined>;
