import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { splitFrontMatter } from "../platform/front-matter-head.ts";
import { packageRoot } from "../platform/package.ts";

/** The prompt of one of RooCode's own agents (`agents/<name>.md`), `{field}` replaced by what is given. */
export async function builtInPrompt(
  name: "coordinator" | "session-coordinator" | "worker" | "integrator",
  fields: Readonly<Record<string, string>> = {},
): Promise<string> {
  const split = splitFrontMatter(await readFile(join(packageRoot(), "agents", `${name}.md`), "utf8"));
  if (split.type === "open") throw new Error(`agents/${name}.md has a head without an end.`);
  return split.body.replaceAll(/\{(\w+)\}/g, (whole, field: string) => fields[field] ?? whole);
}
