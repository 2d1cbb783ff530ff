import type { PermissionMode } from "../protocol/permission.ts";

export type Category = "read" | "write" | "command" | "other";

/** Layer 4. `isPlanFile`: the one file of the session's plan. */
export function allowedByMode(mode: PermissionMode, category: Category, isPlanFile: boolean): boolean {
  if (category === "read" || category === "other") return true;
  switch (mode) {
    case "bypassPermissions":
      return true;
    case "acceptEdits":
      return category === "write";
    case "plan":
      return category === "write" && isPlanFile;
    case "default":
      return false;
  }
}
