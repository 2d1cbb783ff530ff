import { createHash } from "node:crypto";
import { appendLine, isUnwritable } from "../platform/files.ts";
import type { PermissionDecision, PermissionRequest } from "../protocol/permission.ts";
import { maskSecrets } from "./secrets.ts";

export type AuditLine = {
  at: string;
  agent: string;
  tool: string;
  kind: string;
  subject: string;
  decision: string;
  sticky: boolean;
  layer: string;
  rule?: string;
  reason: string;
};
export type Recorder = (line: AuditLine) => Promise<void>;

export function auditLine(request: PermissionRequest, decision: PermissionDecision, at: Date): AuditLine {
  return {
    at: at.toISOString(),
    agent: request.agent,
    tool: request.tool,
    kind: request.access.kind,
    subject: maskSecrets(request.access.subject),
    decision: decision.decision,
    sticky: decision.sticky,
    layer: decision.layer,
    ...(decision.rule === undefined ? {} : { rule: maskSecrets(decision.rule) }),
    reason: maskSecrets(decision.reason),
  };
}

const MAX_WAITING = 10_000;

/**
 * Appends to a JSONL file. Each line carries the hash of the one before it from this process, so that a gap shows. On a full disk
 * lines wait for the next one: the work that they are about goes on.
 */
export function auditFile(path: string): Recorder {
  const waiting: unknown[] = [];
  let previous = "";
  let last: Promise<void> = Promise.resolve();
  return (line) => {
    // One line that could not be written must not take the later ones with it.
    last = last
      .catch(() => undefined)
      .then(async () => {
        const chained = { ...line, previous };
        previous = createHash("sha256").update(JSON.stringify(chained)).digest("hex").slice(0, 16);
        waiting.push(chained);
        if (waiting.length > MAX_WAITING) waiting.shift();
        await appendAll(path, waiting);
      });
    return last;
  };
}

async function appendAll(path: string, waiting: unknown[]): Promise<void> {
  try {
    for (let line = waiting[0]; line !== undefined; line = waiting[0]) {
      await appendLine(path, line);
      waiting.shift();
    }
  } catch (error) {
    if (!isUnwritable(error)) throw error;
  }
}
