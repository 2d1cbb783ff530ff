import { PRESETS } from "../../engine/providers/presets.ts";
import { configReport } from "../../runtime/config-report.ts";
import { type GlobalFlags, readSurroundings } from "../../runtime/surroundings.ts";
import { maskSecrets } from "../../safety/secrets.ts";
import { configText } from "../config-text.ts";
import { outliveOutput } from "../lost-output.ts";

type ConfigArguments = GlobalFlags & { json: boolean; check: boolean };

/** `roocode config`: what is in force here and where it comes from. With --check only what is wrong, and exit code 2 for it. */
export async function configCommand(args: ConfigArguments): Promise<number> {
  outliveOutput();
  const report = await configReport(await readSurroundings(process.cwd(), process.env, args));
  const { error } = { error: undefined, ...report.model };
  const wrong = [...report.problems, ...(error && args.check ? [error] : [])];
  const write = (text: string) => process.stdout.write(`${maskSecrets(text)}\n`);
  if (args.json) write(JSON.stringify({ ...report, presets: PRESETS }));
  else if (args.check) write([...(wrong.length === 0 ? ["Nothing is wrong with the settings."] : wrong), ...report.notes].join("\n"));
  else write(configText(report));
  return args.check && wrong.length > 0 ? 2 : 0;
}
