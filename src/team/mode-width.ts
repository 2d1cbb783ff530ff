import type { PermissionMode } from "../protocol/permission.ts";

const WIDTH: Record<PermissionMode, number> = { plan: 0, default: 1, acceptEdits: 2, bypassPermissions: 3 };

/** No member's mode is wider than the lead's. */
export function narrower(wanted: PermissionMode, limit: PermissionMode): PermissionMode {
  return WIDTH[wanted] > WIDTH[limit] ? limit : wanted;
}
