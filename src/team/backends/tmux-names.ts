/** Titles, names and folders are formats in tmux, and `#(...)` in one is a command that it runs. */
export function literal(text: string): string {
  return text.replaceAll("#", "##");
}

/** A folder is a format for tmux too; one that could run something is left out. */
export function safeFolder(folder: string): string {
  return folder.includes("#") ? "/" : folder;
}

/** ASCII without any character that formats or separators know. */
export function mark(text: string): string {
  return encodeURIComponent(text).replace(/[%!'()*~]/g, (found) => (found === "%" ? "=" : `=${found.charCodeAt(0).toString(16)}`));
}
