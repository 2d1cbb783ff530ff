/** One line of JSON for programs. Signs that some readers take for the end of a line are escaped: only LF ends one. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replaceAll(/[\u0085\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
}
