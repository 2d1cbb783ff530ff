import type { Check, CheckStatus } from "../../runtime/doctor/check.ts";
import { maskSecrets } from "../../safety/secrets.ts";

const MARKS: Readonly<Record<CheckStatus, string>> = { ok: "✓", warn: "!", fail: "✗", off: "–" };

export function checkLine({ name, status, text, mend }: Check): string {
  return maskSecrets(`${MARKS[status]} ${name}: ${text.replaceAll(/\s*\n\s*/g, " ")}${mend ? ` ${mend}` : ""}`);
}
