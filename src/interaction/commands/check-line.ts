import type { Check, CheckStatus } from "../../runtime/doctor/check.ts";

const MARKS: Readonly<Record<CheckStatus, string>> = { ok: "✓", warn: "!", fail: "✗", off: "–" };

export function checkLine({ name, status, text, mend }: Check): string {
  return `${MARKS[status]} ${name}: ${text.replaceAll(/\s*\n\s*/g, " ")}${mend ? ` ${mend}` : ""}`;
}
