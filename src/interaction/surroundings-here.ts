import { type GlobalFlags, readSurroundings, type Surroundings } from "../runtime/surroundings.ts";

/** Of the folder that a command was started in; what is wrong with its settings goes to standard error. */
export async function surroundingsHere(flags: GlobalFlags = {}): Promise<Surroundings> {
  const surroundings = await readSurroundings(process.cwd(), process.env, flags);
  for (const warning of surroundings.warnings) process.stderr.write(`${warning}\n`);
  return surroundings;
}
