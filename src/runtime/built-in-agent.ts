import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { markdownBody } from "../platform/markdown.ts";
import { packageRoot } from "../platform/package.ts";

/** The prompt of one of RooCode's own agents (`agents/<name>.md`), `{field}` replaced by what is given. */
export async function builtInPrompt(
  name: "coordinator" | "session-coordinator" | "worker" | "integrator",
  fields: Readonly<Record<string, string>> = {},
): Promise<string> {
  const body = markdownBody(await readFile(join(packageRoot(), "agents", `${name}.md`), "utf8"));
  return body.replaceAll(/\{(\w+)\}/g, (whole, field: string) => fields[field] ?? whole);
}
