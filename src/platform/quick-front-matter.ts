import { splitFrontMatter } from "./front-matter-head.ts";

/**
 * The fields of a head whose every line is `name: plain words`, without the YAML parser, which costs a start more than all else that
 * it reads. Undefined for any other head: that is read as YAML.
 */
export function quickFields(file: string): ReadonlyMap<string, string> | undefined {
  const split = splitFrontMatter(file);
  if (split.type !== "head") return undefined;
  const fields = new Map<string, string>();
  for (const line of split.yaml.split("\n")) {
    if (line === "") continue;
    const found = /^([A-Za-z][A-Za-z_-]*): (.+)$/.exec(line);
    const [, name = "", value = ""] = found ?? [];
    if (!found || fields.has(name) || !isPlain(value)) return undefined;
    fields.set(name, value.trim());
  }
  return fields;
}

/** What YAML too takes for these very characters: no number, and no word of its own. */
function isPlain(value: string): boolean {
  return /^\p{L}/u.test(value) && !/: |:$| #|[\t\r]/.test(value) && !/^(?:true|false|null)$/i.test(value.trim());
}
