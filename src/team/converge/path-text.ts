/** A path in a text for a person or a model: one that has a line end in it must not look like a line of ours. */
export function pathText(path: string): string {
  return /[\x00-\x1f\x7f]/.test(path) ? JSON.stringify(path) : path;
}

export function pathsText(paths: readonly string[], most = Number.POSITIVE_INFINITY): string {
  const more = paths.length > most ? ` and ${paths.length - most} more` : "";
  return `${paths.slice(0, most).map(pathText).join(", ")}${more}`;
}
