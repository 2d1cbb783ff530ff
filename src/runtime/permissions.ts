import type { AskHuman, Authorize, PermissionDecision, PermissionMode, PermissionRequest } from "../protocol/permission.ts";
import type { Surroundings } from "./surroundings.ts";

/** What a team adds to an agent's permissions. */
export type PermissionScope = {
  team?: { primaryCheckout: string; ownBranch: string; worktreesRoot: string };
  /** Rules that the system grants, valid in this agent's root alone. */
  granted?: readonly string[];
  auditPath?: string;
};

export type PermissionOptions = PermissionScope & {
  agent: string;
  root: string;
  cwd: () => string;
  mode: () => PermissionMode;
  askHuman?: AskHuman | undefined;
};

export type Permissions = {
  authorize: Authorize;
  isReadOnly: (command: string) => boolean;
  maskSecrets: (text: string) => string;
  /** The rule that "always" would write; undefined where it is not offered. */
  alwaysRule: (request: PermissionRequest, decision: PermissionDecision) => Promise<string | undefined>;
  /** Writes it into the project's local settings. */
  writeAlways: (rule: string) => Promise<void>;
  warnings: string[];
};

export async function createPermissions(_surroundings: Surroundings, options: PermissionOptions): Promise<Permissions> {
  return {
    authorize: async (request) => ({
      decision: options.mode() === "bypassPermissions" || request.access.kind !== "command" ? "allow" : "deny",
      sticky: false,
      layer: "mode",
      reason: "interim",
    }),
    isReadOnly: (command) => /^(ls|cat|sleep|git status)\b/.test(command),
    maskSecrets: (text) => text,
    alwaysRule: async () => undefined,
    writeAlways: async () => undefined,
    warnings: [],
  };
}
