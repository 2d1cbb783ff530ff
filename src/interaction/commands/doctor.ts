import type { Check, CheckStatus } from "../../runtime/doctor/check.ts";
import { examine } from "../../runtime/doctor/doctor.ts";
import { type GlobalFlags, readSurroundings } from "../../runtime/surroundings.ts";
import { maskSecrets } from "../../safety/secrets.ts";
import { outliveOutput } from "../lost-output.ts";

type DoctorArguments = GlobalFlags & { json: boolean; offline: boolean };

const MARKS: Readonly<Record<CheckStatus, string>> = { ok: "✓", warn: "!", fail: "✗", off: "–" };

/** `roocode doctor`: exit code 1 when something that is needed is not there. */
export async function doctorCommand(args: DoctorArguments): Promise<number> {
  outliveOutput();
  const checks = await examine(await readSurroundings(process.cwd(), process.env, args), args);
  const isFine = checks.every(({ status }) => status !== "fail");
  const text = args.json ? maskSecrets(JSON.stringify({ ok: isFine, checks })) : checks.map(checkLine).join("\n");
  process.stdout.write(`${text}\n`);
  return isFine ? 0 : 1;
}

export function checkLine({ name, status, text, mend }: Check): string {
  return maskSecrets(`${MARKS[status]} ${name}: ${text.replaceAll(/\s*\n\s*/g, " ")}${mend ? ` ${mend}` : ""}`);
}
