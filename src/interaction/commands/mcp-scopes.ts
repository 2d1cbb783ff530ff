/** Where a server may be written down: the person's settings, those for this project on this machine, or the project's `.mcp.json`. */
export const SCOPES = ["user", "local", "project"] as const;
export type Scope = (typeof SCOPES)[number];
