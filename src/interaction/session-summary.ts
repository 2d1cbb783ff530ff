import type { SessionSummary } from "../memory/session-list.ts";
import { plainText } from "../tools/bash/plain-text.ts";

/** One conversation in a list of them. */
export function summaryLine({ id, name, firstPrompt, model, lastAt, bytes, parent, isRunning }: SessionSummary): string {
  const marks = [...(isRunning ? ["running"] : []), ...(parent ? [`fork of ${parent.slice(0, 8)}`] : [])];
  const words = plainText(name === undefined ? firstPrompt : `"${name}" ${firstPrompt}`).slice(0, 80);
  return `${id}  ${lastAt.slice(0, 16).replace("T", " ")}  ${size(bytes)}  ${model}  ${words}${marks.length > 0 ? `  (${marks.join(", ")})` : ""}`;
}

function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
