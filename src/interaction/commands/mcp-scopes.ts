/** Where a server may be written down: the person's settings, or the project's `.mcp.json`. */
export const SCOPES = ["user", "project"] as const;
export type Scope = (typeof SCOPES)[number];
