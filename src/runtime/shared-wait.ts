import { mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SharedWait } from "../engine/retry.ts";
import { isErrno } from "../platform/files.ts";

/**
 * What one agent of a team hears of a provider's limit counts for all that use it: an empty file a provider, whose time of change is
 * when requests may be made again. To ask is one look at it; nobody polls, and it is written only when a server names a time.
 */
export function sharedWait(folder: string, provider: string): SharedWait {
  const path = join(folder, encodeURIComponent(provider));
  const until = (): number => {
    try {
      return statSync(path).mtimeMs;
    } catch (error) {
      if (isErrno(error, "ENOENT")) return 0;
      throw error;
    }
  };
  return {
    until,
    hold(untilMs) {
      if (untilMs <= until()) return;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(path, "", { mode: 0o600 });
        utimesSync(path, untilMs / 1000, untilMs / 1000);
      } catch (error) {
        // On a full disk each agent hears it from the server itself.
        if (!isErrno(error, "ENOSPC", "EDQUOT", "EROFS")) throw error;
      }
    },
  };
}
