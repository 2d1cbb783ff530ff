import type { SessionModeState } from "@agentclientprotocol/sdk";
import { PERMISSION_MODES, type PermissionMode } from "../../protocol/permission.ts";

const MODES: Readonly<Record<PermissionMode, { name: string; description: string }>> = {
  default: { name: "Ask", description: "Asks before files are changed and before commands that do more than look" },
  acceptEdits: { name: "Accept edits", description: "Files of the project are changed without a question" },
  plan: { name: "Plan", description: "Explores and writes a plan; nothing else is changed until you approve it" },
  bypassPermissions: { name: "Bypass permissions", description: "Asks nothing that the mode could ask; denies and dangers stay" },
};

export function modeState(current: PermissionMode): SessionModeState {
  return { currentModeId: current, availableModes: PERMISSION_MODES.map((id) => ({ id, ...MODES[id] })) };
}

export function modeNamed(id: string): PermissionMode | undefined {
  return PERMISSION_MODES.find((mode) => mode === id);
}
