import { isAlive, isSuspended } from "../../platform/process.ts";
import type { PresenceRecord } from "./schemas.ts";

/** What a member last said, held against its process. Who ended on purpose, or said how it failed, is not called dead. */
export function corrected(record: PresenceRecord): PresenceRecord {
  if (record.status === "stopped" || record.status === "failed" || record.status === "dead") return record;
  const said = record.detail ? `${record.status}: ${record.detail}` : record.status;
  if (!isAlive(record.process)) return { ...record, status: "dead", detail: `last said: ${said}` };
  if (isSuspended(record.process.pid)) return { ...record, status: "unreachable", detail: `suspended; last said: ${said}` };
  return record;
}
