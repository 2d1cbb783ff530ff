import { examine } from "../../runtime/doctor/doctor.ts";
import { type GlobalFlags, readSurroundings } from "../../runtime/surroundings.ts";
import { maskSecrets } from "../../safety/secrets.ts";
import { outliveOutput } from "../lost-output.ts";
import { checkLine } from "./check-line.ts";

type DoctorArguments = GlobalFlags & { json: boolean; offline: boolean };

/** `roocode doctor`: exit code 1 when something that is needed is not there. */
export async function doctorCommand(args: DoctorArguments): Promise<number> {
  outliveOutput();
  const checks = await examine(await readSurroundings(process.cwd(), process.env, args), args);
  const isFine = checks.every(({ status }) => status !== "fail");
  const text = args.json ? maskSecrets(JSON.stringify({ ok: isFine, checks })) : checks.map(checkLine).join("\n");
  process.stdout.write(`${text}\n`);
  return isFine ? 0 : 1;
}
